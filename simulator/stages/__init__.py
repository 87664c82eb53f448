"""What happens to a reply before the customer sees it; each stage a pure function of what it is given.

sources       which passages may be used
form          a reply taken apart by its format: answer and quote
money         where a text names money
rules         the mechanical rules of form
expectation   whether a reply does what its turn expects
objects       JSON objects found in prose
verdict       what the judge is shown, and how its answer is read
graded        the judge's verdict as a probability, and the threshold that makes a word of it
check         the verdict by evidence, by a judge or by both
act           what is done about a reply that is not supported
pipeline      a turn as it passes the stages
"""
