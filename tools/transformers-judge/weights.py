"""Random weights that Python and Java compute alike: those of TensorValues.random in tools/family-test."""
import dataclasses
import math

import numpy

GAMMA = numpy.uint64(0x9E3779B97F4A7C15)


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A line of tensors.txt: how a tensor of a folder is filled."""
    name: str
    shape: tuple
    middle: float
    spread: float

    def line(self):
        sizes = "x".join(str(size) for size in self.shape)
        return f"{self.name} {sizes} {self.middle:.6g} {self.spread:.6g}"

    def values(self, model):
        # The numbers as the line states them, which is all that Java sees.
        middle, spread = (float(word) for word in self.line().split(" ")[2:])
        return random(f"{model}/{self.name}", middle, spread, self.shape)


def random(seed, middle, spread, shape):
    """Returns uniform float32 values with this mean and standard deviation."""
    hashed = 1125899906842597
    for character in seed:
        hashed = (31 * hashed + ord(character)) % 2**64
    uniform = uniforms(hashed, math.prod(shape))
    return (middle + spread * math.sqrt(3) * (2 * uniform - 1)).astype(numpy.float32).reshape(shape)


def uniforms(seed, count):
    """Returns what java.util.SplittableRandom(seed).nextDouble() returns, count times."""
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(seed) + GAMMA * numpy.arange(1, count + 1, dtype=numpy.uint64)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53
