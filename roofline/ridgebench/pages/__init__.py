"""Keeps the tables and pictures of the pages current."""
