"""The operators of traced values: NumPy's for arrays, Python's between Python numbers."""

from __future__ import annotations

from typing import Any

from s2s.numpy import arithmetic, linear, logical, powers
from s2s.numpy.registry import mistake
from s2s.numpy.ufuncs import TracedUfunc
from s2s.primitive import Value
from s2s.trace import Tracer


class Operators(Tracer):
    """A tracer with operators."""

    __slots__ = ()

    # -- arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Value:
        return arithmetic.add.infix(self, other)

    def __radd__(self, other: Any) -> Value:
        return arithmetic.add.infix(other, self)

    def __sub__(self, other: Any) -> Value:
        return arithmetic.subtract.infix(self, other)

    def __rsub__(self, other: Any) -> Value:
        return arithmetic.subtract.infix(other, self)

    def __mul__(self, other: Any) -> Value:
        return arithmetic.multiply.infix(self, other)

    def __rmul__(self, other: Any) -> Value:
        return arithmetic.multiply.infix(other, self)

    def __truediv__(self, other: Any) -> Value:
        return arithmetic.divide.infix(self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return arithmetic.divide.infix(other, self)

    def __floordiv__(self, other: Any) -> Value:
        return arithmetic.floor_divide.infix(self, other)

    def __rfloordiv__(self, other: Any) -> Value:
        return arithmetic.floor_divide.infix(other, self)

    def __mod__(self, other: Any) -> Value:
        return arithmetic.remainder.infix(self, other)

    def __rmod__(self, other: Any) -> Value:
        return arithmetic.remainder.infix(other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulus: Any = None) -> Value:
        if modulus is not None:
            raise mistake("pow with a modulus is not supported")
        return powers.power.infix(self, other)

    def __rpow__(self, other: Any, modulus: Any = None) -> Value:
        return powers.power.infix(other, self)

    def __matmul__(self, other: Any) -> Value:
        return linear.infix_matmul(self, other)

    def __rmatmul__(self, other: Any) -> Value:
        return linear.infix_matmul(other, self)

    def __neg__(self) -> Value:
        return arithmetic.negative.prefix(self)

    def __pos__(self) -> Value:
        return arithmetic.positive.prefix(self)

    def __abs__(self) -> Value:
        return arithmetic.absolute.prefix(self)

    # -- bits and comparisons -------------------------------------------------------------------

    def __and__(self, other: Any) -> Value:
        return logical.bitwise_and.infix(self, other)

    def __rand__(self, other: Any) -> Value:
        return logical.bitwise_and.infix(other, self)

    def __or__(self, other: Any) -> Value:
        return logical.bitwise_or.infix(self, other)

    def __ror__(self, other: Any) -> Value:
        return logical.bitwise_or.infix(other, self)

    def __xor__(self, other: Any) -> Value:
        return logical.bitwise_xor.infix(self, other)

    def __rxor__(self, other: Any) -> Value:
        return logical.bitwise_xor.infix(other, self)

    def __lshift__(self, other: Any) -> Value:
        return logical.left_shift.infix(self, other)

    def __rlshift__(self, other: Any) -> Value:
        return logical.left_shift.infix(other, self)

    def __rshift__(self, other: Any) -> Value:
        return logical.right_shift.infix(self, other)

    def __rrshift__(self, other: Any) -> Value:
        return logical.right_shift.infix(other, self)

    def __invert__(self) -> Value:
        return logical.invert.prefix(self)

    def __eq__(self, other: object) -> Any:
        return logical.equal.infix(self, other)

    def __ne__(self, other: object) -> Any:
        return logical.not_equal.infix(self, other)

    def __lt__(self, other: Any) -> Value:
        return logical.less.infix(self, other)

    def __le__(self, other: Any) -> Value:
        return logical.less_equal.infix(self, other)

    def __gt__(self, other: Any) -> Value:
        return logical.greater.infix(self, other)

    def __ge__(self, other: Any) -> Value:
        return logical.greater_equal.infix(self, other)

    def __hash__(self) -> int:
        raise mistake("a traced value cannot be a key or an element of a set: it has no value yet")

    # -- in place -------------------------------------------------------------------------------

    @property
    def is_changeable(self) -> bool:
        """Whether `x += y` changes the array, not only what the name `x` stands for."""
        raise NotImplementedError

    def change(self, operator: str, result: Value) -> Value:
        """Make `result` the elements of the array: what `x += y` does."""
        raise NotImplementedError

    def _in_place(self, operator: str, function: TracedUfunc, other: Any) -> Value:
        """`x += y`: a new value for a number; an array changes for all who hold it."""
        result = function.infix(self, other)
        if result is NotImplemented or not self.is_changeable:
            return result
        return self.change(operator, result)

    def __iadd__(self, other: Any) -> Value:
        return self._in_place("+", arithmetic.add, other)

    def __isub__(self, other: Any) -> Value:
        return self._in_place("-", arithmetic.subtract, other)

    def __imul__(self, other: Any) -> Value:
        return self._in_place("*", arithmetic.multiply, other)

    def __itruediv__(self, other: Any) -> Value:
        return self._in_place("/", arithmetic.divide, other)

    def __ifloordiv__(self, other: Any) -> Value:
        return self._in_place("//", arithmetic.floor_divide, other)

    def __imod__(self, other: Any) -> Value:
        return self._in_place("%", arithmetic.remainder, other)

    def __ipow__(self, other: Any) -> Value:
        return self._in_place("**", powers.power, other)

    def __iand__(self, other: Any) -> Value:
        return self._in_place("&", logical.bitwise_and, other)

    def __ior__(self, other: Any) -> Value:
        return self._in_place("|", logical.bitwise_or, other)

    def __ixor__(self, other: Any) -> Value:
        return self._in_place("^", logical.bitwise_xor, other)

    def __ilshift__(self, other: Any) -> Value:
        return self._in_place("<<", logical.left_shift, other)

    def __irshift__(self, other: Any) -> Value:
        return self._in_place(">>", logical.right_shift, other)

    def __imatmul__(self, other: Any) -> Value:
        return self.change("@", linear.infix_matmul(self, other))
