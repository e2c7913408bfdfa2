"""Spark: a streaming query's checkpoint directory, kept as a chain on an object store."""
