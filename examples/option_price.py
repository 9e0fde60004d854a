"""The price of a barrier option in closed form, on Python floats."""

import math


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def call(spot, strike, total_vol, discount):
    """Black and Scholes's price of a European call."""
    d1 = math.log(spot / (strike * discount)) / total_vol + 0.5 * total_vol
    d2 = d1 - total_vol
    return spot * normal_cdf(d1) - strike * discount * normal_cdf(d2)


def price(
    spot: float, strike: float, barrier: float, maturity: float, rate: float, vol: float
) -> float:
    """Price of a call that ends worthless once the spot falls to the barrier.

    The barrier lies below both spot and strike. Merton (1973), by the method of images.
    """
    total_vol = vol * math.sqrt(maturity)
    discount = math.exp(-rate * maturity)
    image = barrier**2 / spot
    weight = (barrier / spot) ** (2.0 * rate / vol**2 - 1.0)
    vanilla = call(spot, strike, total_vol, discount)
    return vanilla - weight * call(image, strike, total_vol, discount)
