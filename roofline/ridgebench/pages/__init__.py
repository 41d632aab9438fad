"""What keeps the tables and pictures of the pages current."""
