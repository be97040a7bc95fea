"""The prime number that InnoDB makes of a wanted number of cells for a hash table."""

from __future__ import annotations

ROOM = 100
NEAR = 20  # a power of two this little above is kept away from
# By how much it grows just above a power of two, just below one, and always.
ABOVE, BELOW, ALWAYS = 1.0412321, 1.1131347, 1.0132677


def prime_about(wanted: int) -> int:
    """A prime at least as large as the number, and well away from powers of two; found as running servers showed it."""
    number = wanted + ROOM
    power = 1 << (number - 1).bit_length() - 1
    if number < 1.05 * power:
        number = int(number * ABOVE)
    power *= 2
    if number > 0.95 * power:
        number = int(number * BELOW)
    if number > power - NEAR:
        number += 30
    number = int(number * ALWAYS)
    while not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
