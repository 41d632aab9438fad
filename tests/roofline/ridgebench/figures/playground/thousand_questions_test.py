"""1,000 further random questions of the playground have the program's answers, as printed."""

from playground import SKIPS, check

pytestmark = SKIPS


def test_1000_random_questions_have_the_answers_of_the_program(opened):
    check(opened, 1000, seed=1961)
