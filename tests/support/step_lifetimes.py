"""Which tensors of a training step live at once, by executing the step: every tensor is allocated by the kernel that
writes it and freed after the last one that reads it.

Written from the description of the network in roofline/plan/step_memory.hpp, and not from its formulas.
"""

import math

from step_records import rounded

WEIGHT = "W"  # the temporary gradient of a weight; every other tensor is an output or its gradient


class Step:
    """Executes one micro-batch. h_0, a view of the input, is not counted."""

    def __init__(self, layers: int, gelu: bool, checkpoint: str, accumulates: bool, output: int, weight: int):
        self.layers, self.gelu, self.accumulates = layers, gelu, accumulates
        self.output, self.weight = output, weight  # bytes
        self.full = checkpoint == "full" and layers > 1
        self.length = {"none": 0, "full": 0, "layer": 1, "sqrt": math.ceil(layers / math.ceil(math.sqrt(layers)))}.get(checkpoint)
        if self.length is None:
            self.length = min(layers, int(checkpoint.removeprefix("every:")))
        self.live: set[tuple[str, int]] = set()
        self.most = 0
        self.bands: list[tuple[str, int, int]] = []  # phase, layer, the most bytes

    def allocate(self, kind: str, layer: int) -> None:
        assert (kind, layer) not in self.live
        self.live.add((kind, layer))
        self.most = max(self.most, sum(self.weight if kind == WEIGHT else self.output for kind, _ in self.live))

    def free(self, kind: str, layer: int) -> None:
        self.live.discard((kind, layer))

    def band(self, phase: str, layer: int = 0) -> None:
        self.bands.append((phase, layer, self.most))
        self.most = 0

    def compute(self, layer: int, keep_input: bool, keep_z: bool, needs_h: bool) -> None:
        """z_l = h_(l-1) W_l^T, then h_l = act(z_l)."""
        if layer > 1:
            assert ("h", layer - 1) in self.live
        self.allocate("z", layer)
        if not keep_input:
            self.free("h", layer - 1)
        if needs_h:
            self.allocate("h", layer)
        if not keep_z:
            self.free("z", layer)

    def forward(self) -> None:
        for layer in range(1, self.layers + 1):
            last = layer == self.layers
            if self.full:
                self.compute(layer, keep_input=last, keep_z=last and self.gelu, needs_h=True)
            elif self.length:
                self.compute(layer, keep_input=(layer - 1) % self.length == 0, keep_z=False, needs_h=True)
            else:
                self.compute(layer, keep_input=True, keep_z=self.gelu, needs_h=True)
            self.band("forward", layer)

    def loss(self) -> None:
        self.allocate("dh", self.layers)
        if self.gelu or self.length:
            self.free("h", self.layers)
        self.band("loss")

    def again(self, first: int, last: int, keep: bool) -> None:
        """Computes layers again from h_(first - 1); of GELU's last layer z is enough."""
        self.free("h", last)  # a checkpoint that is written again
        for layer in range(first, last + 1):
            wanted = keep or layer == last  # by the backward pass
            self.compute(layer, wanted, keep_z=self.gelu and wanted, needs_h=layer < last or not self.gelu)

    def backward(self) -> None:
        for layer in range(self.layers, 0, -1):
            if self.full and layer < self.layers:
                self.again(1, layer, keep=False)
            if self.length and (layer == self.layers or layer % self.length == 0):
                self.again((layer - 1) // self.length * self.length + 1, layer, keep=True)
            assert ("z" if self.gelu else "h", layer) in self.live
            self.allocate("dz", layer)
            for kind in ("dh", "z", "h"):
                self.free(kind, layer)
            if self.accumulates:
                self.allocate(WEIGHT, layer)
                self.free(WEIGHT, layer)
            if layer > 1:
                assert ("h", layer - 1) in self.live, "the gradient of the weight reads it"
                self.allocate("dh", layer - 1)
                if self.gelu or self.full:
                    self.free("h", layer - 1)
            self.free("dz", layer)
            self.band("backward", layer)
        assert not self.live

    def run(self) -> list[tuple[str, int, int]]:
        self.forward()
        self.loss()
        self.backward()
        return [*self.bands, ("step", 0, 0), ("zero", 0, 0)]


def step_bands(layers: int, width: int, batch: int, parts: int, gelu: bool, checkpoint: str, element: int = 2,
               scattered: bool = False) -> list[tuple]:
    """Phase, layer and bytes beside the state: the batch with its labels always, the loss from the loss on.

    With `scattered` gradients the first micro-batch, too, has that of a layer as a temporary: the ranks keep parts of the sum.
    """
    rows = -(-batch // parts)
    step = Step(layers, gelu, checkpoint, parts > 1 or scattered, rounded(rows * width * element), rounded(width * width * element))
    always = rounded(batch * width * element) + rounded(batch * 4)
    loss = rounded(batch * 4)
    return [(phase, layer, always + most + (loss if phase in ("loss", "backward") else 0)) for phase, layer, most in step.run()]
