"""The version: written into manifests, and what the build reads."""

VERSION = "0.1.0"
