"""LCB1: many small files in one checked, compressed object; bytes in, bytes out."""

from holdfast.pack.lcb1 import decode_batch, decode_some, decode_views, encode_batch

__all__ = ["decode_batch", "decode_some", "decode_views", "encode_batch"]
