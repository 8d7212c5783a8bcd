"""Faults as data."""
