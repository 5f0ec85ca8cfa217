"""Arguments that nobody gave, assumed from annotations and from how the kernel uses its parameters, with the reason.

What is assumed has to compile: ranks and dtypes follow from use, sizes from `sizes`. Values given for other parameters
count: where one operand of a product is bf16, so is the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.frontends.base import Origin
from tile_lsp.frontends.dtypes import DTYPES, FLOATS, INTEGERS

from .annotations import Annotation
from .sizes import choose_sizes
from .spec import (
    ArraySpec,
    ConstantSpec,
    Dim,
    DtypeSpec,
    ListSpec,
    ScalarSpec,
    Spec,
    TupleSpec,
    is_constant,
)
from .terms import Fixed, Mix, Of, Slot, Term, Weak, slots
from .usage import Usage, Use

#: Lengths of typical arrays: a launch with aligned sizes tells the compiler so.
_TYPICAL_DIM = Dim(None, 16)
#: Where an annotation has the compiler know a length.
_STATIC_DIM = Dim(1024)

_FLOAT_NAME = re.compile(
    r"(^|_)(eps|epsilon|alpha|beta|gamma|scale|scaling|lr|momentum|p|prob|rate|factor|theta|temperature|softcap|sigma|mu"
    r"|lambda|decay|norm|value|val|slope|weight|threshold|min|max)\d?($|_)",
    re.IGNORECASE,
)
_TRUE_NAME = re.compile(r"^(is_)?(even|aligned|divisible|contiguous|full)(_|$)", re.IGNORECASE)
_EPSILON = re.compile(r"eps", re.IGNORECASE)


class Parameter(msgspec.Struct, frozen=True):
    """One parameter: its annotation, and what sources that stand above assumptions say of it."""

    name: str
    annotation: Annotation
    given: Spec | None = None
    """In full."""
    origin: Origin | None = None
    dtype: str | None = None
    """In part: a launch tells the dtype or the rank of an array."""
    rank: int | None = None
    default: Spec | None = None
    """The default value, as a constant."""


class Assumed(msgspec.Struct, frozen=True):
    """What is taken for one parameter, and why."""

    spec: Spec
    origin: Origin


def assume(parameters: Sequence[Parameter], usage: Usage) -> tuple[Assumed, ...]:
    """An argument for every parameter, in order: what is given as it is, and the rest assumed."""
    return _Assumption(parameters, usage, {}).all()


def alternatives(parameters: Sequence[Parameter], usage: Usage) -> tuple[tuple[Assumed, ...], ...]:
    """Other readings, should inference fail with the first one: other dtypes for what was assumed to be a float."""
    first = _Assumption(parameters, usage, {}).all()
    found = [first]
    for choice in ({"float": "f16", "mma": "f16"}, {"float": "f32", "mma": "f32"}, {"float": "i32", "mma": "i8"}):
        other = _Assumption(parameters, usage, choice).all()
        if all([a.spec for a in other] != [a.spec for a in known] for known in found):
            found.append(other)
    return tuple(found[1:])


class _Assumption:
    def __init__(self, parameters: Sequence[Parameter], usage: Usage, choice: Mapping[str, str]) -> None:
        self.parameters = parameters
        self.usage = usage
        self.choice = choice
        self.dtypes: dict[Slot, str] = {}
        self.why: dict[Slot, str] = {}
        self.sizes: dict[str, tuple[int, str]] = {}

    def all(self) -> tuple[Assumed, ...]:
        self.note_given()
        self.choose_dtypes()
        known = {
            p.name: p.given.value
            for p in self.parameters
            if isinstance(p.given, ConstantSpec) and type(p.given.value) is int
        }
        wanted = [p.name for p in self.parameters if p.given is None and self.role(p) == "constant" and self.is_int(p)]
        self.sizes = choose_sizes(wanted, known, self.usage)
        return tuple(
            Assumed(p.given, p.origin) if p.given is not None and p.origin is not None else self.one(p)
            for p in self.parameters
        )

    # -- roles -------------------------------------------------------------------------------------------------------

    def use(self, slot: Slot) -> Use:
        return self.usage.uses.get(slot) or Use()

    def role(self, parameter: Parameter) -> str:
        """`array`, `list`, `tuple`, `scalar` or `constant`."""
        if parameter.annotation.kind:
            return parameter.annotation.kind
        if parameter.dtype is not None or parameter.rank is not None:
            return "array"
        return self.slot_role(Slot(parameter.name)) or ("constant" if parameter.default is not None else "scalar")

    def slot_role(self, slot: Slot) -> str | None:
        use = self.use(slot)
        if use.sequence is not None and use.array is None:
            parts = [other for other in self.usage.uses if other.name == slot.name and len(other.path) > len(slot.path)]
            arrays = any(self.use(part).array is not None for part in parts)
            return "list" if use.dynamic and (arrays or not parts) else "tuple"
        if use.array is not None or use.rank is not None:
            return "array"
        if use.is_dtype:
            return "constant"
        if use.scalar is not None:
            return "scalar"
        return "constant" if any(isinstance(value, str) for value in use.compared) else None

    def is_int(self, parameter: Parameter) -> bool:
        if parameter.default is not None or parameter.annotation.type not in (None, "int"):
            return False
        use = self.use(Slot(parameter.name))
        return parameter.annotation.type == "int" or not (use.is_dtype or use.compared)

    # -- dtypes ------------------------------------------------------------------------------------------------------

    def note_given(self) -> None:
        for parameter in self.parameters:
            slot = Slot(parameter.name)
            if parameter.given is not None:
                self.note(slot, parameter.given)
            elif parameter.dtype is not None:
                self.dtypes[slot] = parameter.dtype

    def note(self, slot: Slot, spec: Spec) -> None:
        if isinstance(spec, (ArraySpec, ScalarSpec)):
            self.dtypes[slot] = spec.dtype
        elif isinstance(spec, ListSpec):
            for other in self.usage.uses:
                if other.name == slot.name and len(other.path) == len(slot.path) + 1:
                    self.note(other, spec.element)
        elif isinstance(spec, TupleSpec):
            for position, item in enumerate(spec.items):
                self.note(Slot(slot.name, (*slot.path, position)), item)

    def settle(self, slot: Slot, dtype: str, why: str) -> None:
        if slot not in self.dtypes:
            self.dtypes[slot] = dtype
            self.why[slot] = why

    def arrays(self) -> list[Slot]:
        return [slot for slot, use in self.usage.uses.items() if use.array is not None or use.rank is not None]

    def choose_dtypes(self) -> None:
        self.settle_scalars()
        arrays = self.arrays()
        plain = self.known_float(arrays) or self.choice.get("float", "f32")
        operand = self.known_operand(arrays) or self.choice.get("mma") or (plain if self.known_float(arrays) else "f16")
        for slot in arrays:
            self.settle_by_role(slot, operand)
        stored = {slot for slot, _, _ in self.usage.stores}
        for slot in arrays:
            if slot not in stored:
                self.settle(slot, plain, "")
        for _ in range(len(self.usage.stores) + 1):
            before = len(self.dtypes)
            for slot, term, where in self.usage.stores:
                if slot in slots(term):
                    continue
                dtype = self.evaluate(term)
                if dtype is not None:
                    self.settle(slot, "f32" if dtype == "tf32" else dtype, f"{dtype} is stored at {where}")
            if len(self.dtypes) == before:
                break
        product = any("mma" in use.roles for use in self.usage.uses.values())
        for slot in arrays:
            self.settle(slot, operand if product and slot in stored else plain, "")

    def settle_by_role(self, slot: Slot, operand: str) -> None:
        roles = self.use(slot).roles
        for role, dtype in (
            ("lock", "i32"),
            ("index", "i32"),
            ("truth", "bool"),
            ("scale", "f8e8m0fnu"),
            ("scaled", "f8e4m3fn"),
            ("mma", operand),
        ):
            if role in roles:
                self.settle(slot, dtype, roles[role])
                return

    def settle_scalars(self) -> None:
        for slot, use in self.usage.uses.items():
            if use.scalar is None or use.array is not None or use.sequence is not None or slot in self.dtypes:
                continue
            if "index" in use.roles:
                self.settle(slot, "i32", use.roles["index"])
            elif self.annotated(slot).type in ("float", "int", "bool"):
                pass
            elif _FLOAT_NAME.search(slot.name):
                self.settle(slot, "f32", "by its name")

    def annotated(self, slot: Slot) -> Annotation:
        annotation = next((p.annotation for p in self.parameters if p.name == slot.name), Annotation())
        for step in slot.path:
            annotation = annotation.item(step)
        return annotation

    def known_float(self, arrays: Sequence[Slot]) -> str | None:
        """The dtype of an array of floats that is given, if there is one."""
        return next((self.dtypes[s] for s in arrays if self.dtypes.get(s) in ("f16", "bf16", "f32", "f64")), None)

    def known_operand(self, arrays: Sequence[Slot]) -> str | None:
        return next((self.dtypes[s] for s in arrays if s in self.dtypes and "mma" in self.use(s).roles), None)

    def evaluate(self, term: Term) -> str | None:
        """The dtype that a term comes to with what is settled; None if that is open."""
        match term:
            case Fixed(dtype=dtype):
                return dtype
            case Of(slot=slot):
                return self.dtypes.get(slot) or self.scalar_dtype(slot)
            case Weak(kind=kind):
                return {"int": "i32", "float": "f32", "bool": "bool"}[kind]
            case Mix(leaves=leaves, floated=real):
                strong = [self.evaluate(leaf) for leaf in leaves if not isinstance(leaf, Weak)]
                if None in strong:
                    return None
                weak = {leaf.kind for leaf in leaves if isinstance(leaf, Weak)}
                result = _promote([dtype for dtype in strong if dtype is not None])
                if result is None:
                    result = "f32" if "float" in weak else "i32" if "int" in weak else "bool"
                elif "float" in weak and result not in FLOATS:
                    result = "f32"
                elif "int" in weak and result == "bool":
                    result = "i32"
                return "f32" if real and result not in FLOATS else result
            case _:
                return None

    def scalar_dtype(self, slot: Slot) -> str | None:
        use = self.use(slot)
        if use.scalar is None:
            return None
        by_annotation = {"float": "f32", "int": "i32", "bool": "bool"}.get(self.annotated(slot).type or "")
        if by_annotation:
            return by_annotation
        for term in use.partners:
            if term is None or slot in slots(term):
                continue
            dtype = self.evaluate(term)
            if dtype is not None:
                return "f32" if dtype in FLOATS else "i32"
        return None

    # -- arguments ---------------------------------------------------------------------------------------------------

    def one(self, parameter: Parameter) -> Assumed:
        role = self.role(parameter)
        if parameter.default is not None and role in ("constant", "scalar"):
            default = parameter.default
            if role == "scalar":
                default = scalar_of(default) or default
            return Assumed(default, Origin("default", str(parameter.default)))
        return self.of_slot(Slot(parameter.name), parameter.annotation, role, parameter)

    def of_slot(self, slot: Slot, annotation: Annotation, role: str, parameter: Parameter | None = None) -> Assumed:
        if role == "constant" and annotation.kind != "tuple":
            return self.constant(slot, annotation)
        if role == "scalar":
            return self.scalar(slot, annotation)
        if role == "list":
            return self.list(slot, annotation)
        if role == "tuple":
            return self.tuple(slot, annotation)
        return self.array(slot, annotation, parameter)

    def array(self, slot: Slot, annotation: Annotation, parameter: Parameter | None = None) -> Assumed:
        use = self.use(slot)
        rank = parameter.rank if parameter is not None and parameter.rank is not None else use.rank
        if rank is None:
            # A static axis has to exist.
            needed = [
                axis + 1 if axis >= 0 else -axis for axis in (*annotation.static_shape, *annotation.static_strides)
            ]
            rank = max([use.min_rank, 1, *needed])
        dims = [_TYPICAL_DIM] * rank
        if annotation.static_strides:
            dims = [_STATIC_DIM] * rank
        for axis in annotation.static_shape:
            if -rank <= axis < rank:
                dims[axis] = _STATIC_DIM
        dtype = self.dtypes.get(slot, "f32")
        reasons = [use.rank_why or use.array or ""]
        if parameter is not None and parameter.origin is not None:
            told = [what for what, value in (("dtype", parameter.dtype), ("rank", parameter.rank)) if value is not None]
            reasons = [f"{' and '.join(told)} from {parameter.origin.detail}"]
        if self.why.get(slot):
            reasons.append(self.why[slot])
        # Assumed even where a launch tells dtype and rank: the lengths are.
        detail = "; ".join(reason for reason in reasons if reason) or "not used"
        return Assumed(ArraySpec(dtype, tuple(dims)), Origin("assumed", detail))

    def list(self, slot: Slot, annotation: Annotation) -> Assumed:
        parts = [s for s in self.usage.uses if s.name == slot.name and len(s.path) == len(slot.path) + 1]
        best = max(parts, key=lambda s: (self.use(s).rank is not None, s.path[-1] == "*"), default=None)
        element_slot = best if best is not None else Slot(slot.name, (*slot.path, "*"))
        inner = annotation.items[0] if annotation.items else Annotation("array")
        element = self.array(element_slot, inner)
        assert isinstance(element.spec, ArraySpec)
        return Assumed(ListSpec(element.spec), Origin("assumed", self.reasons(self.use(slot).sequence, element)))

    def tuple(self, slot: Slot, annotation: Annotation) -> Assumed:
        use = self.use(slot)
        count = len(annotation.items) if annotation.items and not annotation.repeated else max(use.items, 1)
        items: list[Spec] = []
        for position in range(count):
            part = Slot(slot.name, (*slot.path, position))
            if part not in self.usage.uses and (any_part := Slot(slot.name, (*slot.path, "*"))) in self.usage.uses:
                part = any_part
            inner = annotation.item(position)
            role = inner.kind or self.slot_role(part) or "scalar"
            items.append(self.of_slot(part, inner, role).spec)
        return Assumed(TupleSpec(tuple(items)), Origin("assumed", use.sequence or annotation.text))

    def scalar(self, slot: Slot, annotation: Annotation) -> Assumed:
        use = self.use(slot)
        if annotation.dtype is not None:
            return Assumed(ScalarSpec(annotation.dtype), Origin("annotation", annotation.text))
        by_type = {"float": "f32", "int": "i32", "bool": "bool"}.get(annotation.type or "")
        if by_type is not None:
            return Assumed(ScalarSpec(by_type), Origin("annotation", annotation.text))
        if annotation.type == "str":
            return Assumed(self.text_constant(use), Origin("assumed", "a text is always constant"))
        dtype = self.dtypes.get(slot) or self.scalar_dtype(slot) or "i32"
        if dtype not in FLOATS | INTEGERS | {"bool"}:
            dtype = "f32"
        detail = "; ".join(filter(None, (use.scalar, self.why.get(slot)))) or "not used"
        return Assumed(ScalarSpec(dtype), Origin("assumed", detail))

    def constant(self, slot: Slot, annotation: Annotation) -> Assumed:
        use = self.use(slot)
        name = slot.name
        if not slot.path and name in self.sizes:
            value, why = self.sizes[name]
            return Assumed(ConstantSpec(repr(value)), Origin("assumed", why))
        match annotation.type:
            case "bool":
                value = bool(_TRUE_NAME.search(name))
                return Assumed(ConstantSpec(repr(value)), Origin("assumed", "a flag"))
            case "float":
                value = 1e-5 if _EPSILON.search(name) else 1.0
                return Assumed(
                    ConstantSpec(repr(value)), Origin("assumed", "by its name" if value != 1.0 else "a factor")
                )
            case "int":
                return Assumed(ConstantSpec("1"), Origin("assumed", "an item of a tuple"))
            case "str":
                return Assumed(self.text_constant(use), Origin("assumed", "compared with texts"))
        if use.is_dtype:
            return Assumed(DtypeSpec("f32"), Origin("assumed", "used as a dtype"))
        texts = [value for value in use.compared if isinstance(value, str)]
        if texts:
            return Assumed(ConstantSpec(repr(texts[0])), Origin("assumed", "compared with texts"))
        return Assumed(ConstantSpec("1"), Origin("assumed", "nothing says what it is"))

    def text_constant(self, use: Use) -> ConstantSpec:
        return ConstantSpec(repr(next((value for value in use.compared if isinstance(value, str)), "")))

    @staticmethod
    def reasons(first: str | None, element: Assumed) -> str:
        return "; ".join(filter(None, (first, element.origin.detail)))


def scalar_of(spec: Spec) -> ScalarSpec | None:
    """The type of scalar that a launch makes of a number: `128` → i32; None for what stays a constant."""
    if not isinstance(spec, ConstantSpec) or not is_constant(spec):
        return None
    kind = type(spec.value)
    if kind is int:
        return ScalarSpec("i32" if -(1 << 31) <= int(spec.value or 0) < 1 << 31 else "i64")
    return ScalarSpec({bool: "bool", float: "f32"}[kind]) if kind in (bool, float) else None


def as_launched(spec: Spec, annotation: Annotation) -> Spec:
    """The spec with numbers made scalars wherever the annotation does not have them constant, as a launch does."""
    if annotation.kind == "constant":
        return spec
    if isinstance(spec, TupleSpec):
        return TupleSpec(tuple(as_launched(item, annotation.item(at)) for at, item in enumerate(spec.items)))
    return scalar_of(spec) or spec


def _promote(dtypes: Sequence[str]) -> str | None:
    """What dtypes promote to; f32 where they don't, for that is what an author would cast to."""
    kinds = set(dtypes)
    if not kinds:
        return None
    if len(kinds) == 1:
        return dtypes[0]
    floats = kinds & FLOATS
    if floats:
        if len(floats) == 1:
            return next(iter(floats))
        return "f64" if "f64" in floats else "f32"
    integers = kinds & INTEGERS
    return max(integers, key=lambda dtype: (DTYPES[dtype][1], dtype)) if integers else "bool"
