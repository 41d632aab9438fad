"""Static figures of a results directory; a figure depends on nothing but its records."""
