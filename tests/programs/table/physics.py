"""Simulations of physical systems, step by step."""

import numpy as np

G = 9.81


def projectile(speed, angle, drag):
    """Range of a thrown ball; the last step is cut where it lands.

    >>> projectile(12.0, 0.7, 0.02)
    >>> projectile(7.0, 1.1, 0.05)
    """
    x, y = 0.0, 0.0
    vx, vy = speed * np.cos(angle), speed * np.sin(angle)
    dt = 0.05
    while True:
        v = np.sqrt(vx * vx + vy * vy)
        vx_new = vx - dt * drag * v * vx
        vy_new = vy - dt * (G + drag * v * vy)
        x_new = x + dt * vx_new
        y_new = y + dt * vy_new
        if y_new < 0.0:
            fraction = y / (y - y_new)
            return x + fraction * (x_new - x)
        x, y, vx, vy = x_new, y_new, vx_new, vy_new


def bouncing_ball(height, restitution):
    """
    >>> bouncing_ball(1.0, 0.8)
    >>> bouncing_ball(1.7, 0.6)
    """
    y, v = height, 0.0
    dt = 0.01
    for _ in range(150):
        v -= G * dt
        y += v * dt
        if y < 0.0:
            y = -y
            v = -restitution * v
    return 0.5 * v**2 + G * y


def leapfrog(q, p, mass):
    """
    >>> leapfrog(np.array([0.5, -0.3]), np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    >>> leapfrog(np.array([0.2, 0.4]), np.array([1.0, 0.3]), np.array([0.7, 1.5]))
    """
    dt = 0.05
    for _ in range(40):
        p = p - 0.5 * dt * q**3
        q = q + dt * p / mass
        p = p - 0.5 * dt * q**3
    return np.sum(p**2 / (2 * mass)) + np.sum(q**4) / 4


def heat(u, alpha):
    """
    >>> heat(np.array([0.0, 1.0, 0.5, 0.3, 0.0]), 0.2)
    >>> heat(np.array([1.0, 0.2, 0.7, 0.1, 0.4]), 0.4)
    >>> heat(np.array([0.0, 1.0, 0.5, 0.0]), 0.2)
    """
    u = u.copy()
    for _ in range(30):
        u[1:-1] += alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def heat_until_flat(u, alpha):
    """
    >>> heat_until_flat(np.array([0.0, 1.0, 0.5, 0.3, 0.0]), 0.2)
    >>> heat_until_flat(np.array([0.0, 0.2, 0.7, 0.1, 0.0]), 0.4)
    """
    steps = 0
    while np.max(np.abs(u)) > 0.1 and steps < 100:
        new = u.copy()
        new[1:-1] = u[1:-1] + alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
        steps += 1
    return np.sum(u) * alpha


def wave(u, c):
    """
    >>> wave(np.array([0.0, 0.5, 1.0, 0.5, 0.0]), 0.5)
    >>> wave(np.array([0.0, 0.1, 0.7, 0.3, 0.0]), 0.8)
    """
    previous = u.copy()
    for _ in range(10):
        following = np.zeros_like(u)
        following[1:-1] = 2 * u[1:-1] - previous[1:-1] + c**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        previous, u = u, following
    return u


def advection(u, velocity):
    """Upwind differences, whose side depends on the direction of the flow.

    >>> advection(np.array([0.1, 0.5, 1.0, 0.5]), 0.3)
    >>> advection(np.array([0.1, 0.5, 1.0, 0.5]), -0.6)
    """
    for _ in range(5):
        if velocity > 0:
            u = u - velocity * (u - np.roll(u, 1))
        else:
            u = u - velocity * (np.roll(u, -1) - u)
    return np.sum(u**2)


def nbody(positions, masses):
    """Potential energy of point masses.

    >>> nbody(np.array([[0.0, 0.1], [1.0, 0.4], [0.3, 2.0]]), np.array([1.0, 2.0, 0.5]))
    >>> nbody(np.array([[0.5, 0.2], [2.0, 0.9], [1.1, 1.2]]), np.array([0.4, 1.0, 1.5]))
    """
    energy = 0.0
    for i in range(len(masses)):
        for j in range(i):
            distance = np.linalg.norm(positions[i] - positions[j])
            energy -= masses[i] * masses[j] / distance
    return energy


def orbit(position, velocity):
    """
    >>> orbit(np.array([1.0, 0.0]), np.array([0.1, 0.9]))
    >>> orbit(np.array([0.8, 0.3]), np.array([-0.2, 1.0]))
    """
    dt = 0.02
    closest = np.linalg.norm(position)
    for _ in range(60):
        r = np.linalg.norm(position)
        if r < closest:
            closest = r
        velocity = velocity - dt * position / r**3
        position = position + dt * velocity
    return closest


def ising(field, spins):
    """
    >>> ising(0.3, np.array([1.0, -1.0, 1.0, 1.0]))
    >>> ising(-0.7, np.array([-1.0, -1.0, 1.0, -1.0]))
    """
    energy = 0.0
    n = len(spins)
    for i in range(n):
        energy -= spins[i] * spins[(i + 1) % n]
        energy -= field * spins[i]
    return energy


def reaction(a, b, k):
    """
    >>> reaction(1.0, 0.2, 0.5)
    >>> reaction(0.4, 0.9, 1.5)
    """
    dt = 0.1
    elapsed = 0.0
    while elapsed < 2.0 - 1e-9 and a > 0.05:
        rate = k * a * b
        a -= dt * rate
        b += dt * (rate - 0.3 * b)
        elapsed += dt
    return a + 2.0 * b


def spring_chain(x, stiffness):
    """
    >>> spring_chain(np.array([0.0, 1.1, 1.9, 3.2]), np.array([1.0, 2.0, 3.0]))
    >>> spring_chain(np.array([0.1, 0.8, 2.2, 2.9]), np.array([0.5, 1.5, 1.0]))
    """
    force = np.zeros_like(x)
    for i, k in enumerate(stiffness):
        stretch = x[i + 1] - x[i] - 1.0
        if stretch < 0.0:
            k = 10.0 * k
        force[i] += k * stretch
        force[i + 1] -= k * stretch
    return force


def ray(depth, speeds):
    """Travel time of a ray through layers.

    >>> ray(np.array([1.0, 0.5, 2.0]), np.array([1.5, 2.0, 2.5]))
    >>> ray(np.array([0.4, 1.5, 1.0]), np.array([2.0, 2.1, 1.8]))
    """
    parameter = 0.2
    time = 0.0
    for d, c in zip(depth, speeds):
        cosine = np.sqrt(1.0 - (parameter * c) ** 2)
        time += d / (c * cosine)
    return time


def mandelbrot(re, im):
    """Smooth escape time.

    >>> mandelbrot(0.4, 0.3)
    >>> mandelbrot(0.1, 0.1)
    >>> mandelbrot(1.1, 0.2)
    """
    x, y = 0.0, 0.0
    for n in range(20):
        x, y = x * x - y * y + re, 2 * x * y + im
        if x * x + y * y > 16.0:
            return n + 1.0 / np.log(x * x + y * y)
    return 20.0 * re * im


def thermostat(temperature, setting):
    """A heater with hysteresis.

    >>> thermostat(15.0, 20.3)
    >>> thermostat(24.0, 18.1)
    """
    heating = False
    used = 0.0
    for _ in range(40):
        if temperature < setting - 1.0:
            heating = True
        elif temperature > setting + 1.0:
            heating = False
        if heating:
            temperature += 0.7
            used += 1.0
        temperature -= 0.05 * (temperature - 10.0)
    return temperature + 0.1 * used


def diffusion_2d(u, k):
    """
    >>> diffusion_2d(np.arange(12.0).reshape(3, 4), 0.1)
    >>> diffusion_2d(np.cos(np.arange(12.0)).reshape(3, 4), 0.2)
    """
    for _ in range(4):
        u[1:-1, 1:-1] += k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
    return np.sum(u**2)
