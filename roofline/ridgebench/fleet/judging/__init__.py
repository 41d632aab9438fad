"""Judges a collected fleet: the outlier rule, the verdict of each GPU, and how often both are wrong."""
