"""Certificates: written from what an engine has proven, and checked by code that shares nothing with it."""
