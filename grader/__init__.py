"""Grader."""
