"""Object-store-native checkpoints for Spark Structured Streaming."""
