"""What Spark writes below a checkpoint's root: names and bytes, as far as Holdfast must know."""
