"""Moving a checkpoint in and out: from a directory that Spark wrote into a chain, and back."""
