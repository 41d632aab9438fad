"""Exercises for a class: questions with numbers of their own for each student, and answers that the program computes."""
