#!/usr/bin/env python3
"""An animation of a run, or of a rotating part.

    python3 animate.py RUN/density.vtk.series OUT.gif      the designs of the run
    python3 animate.py PART.stl OUT.gif --turn 36          one rotation in 36 pictures

OUT is a .gif (needs Pillow), a .ogv video (VTK's own writer) or a folder for PNG pictures. The options of
render.py hold here too. Without a screen it starts itself again under xvfb-run. Debian: python3-vtk9
python3-numpy python3-pil xvfb xauth."""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import render  # noqa: E402 (it may start this script again with the system's Python)
from render import numpy, vtk, vtk_to_numpy  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description="An animation of a run, or of a part that turns.")
    parser.add_argument("result", help=".vtk.series or a run's folder; with --turn also .vtk, .stl, .ply")
    parser.add_argument("output", help=".gif, .ogv, or a folder for PNG pictures")
    render.add_look(parser)
    parser.add_argument("--width", type=int, default=800, help="pixels, default 800")
    parser.add_argument("--rate", type=float, default=0.0,
                        help="pictures a second; default 3, with --turn 12")
    parser.add_argument("--turn", type=int, default=0, metavar="N",
                        help="turn the last result once about the picture's upright axis, in N pictures")
    arguments = parser.parse_args()
    if arguments.turn < 0 or arguments.rate < 0 or arguments.width < 1:
        parser.error("--turn, --rate and --width count from 0 or 1 upwards")
    if arguments.rate == 0:
        arguments.rate = 12.0 if arguments.turn else 3.0
    return arguments


class Gif:
    def __init__(self, path, rate):
        try:
            from PIL import Image
        except ImportError:
            render.fail("a .gif needs Pillow. Debian: apt install python3-pil; or write .ogv")
        self.image, self.path, self.rate, self.pictures = Image, path, rate, []

    def add(self, data):
        width, height, _ = data.GetDimensions()
        pixels = vtk_to_numpy(data.GetPointData().GetScalars()).reshape(height, width, -1)
        picture = self.image.fromarray(numpy.ascontiguousarray(pixels[::-1, :, :3]))
        self.pictures.append(picture.quantize(128))

    def close(self):
        time = [int(1000 / self.rate)] * len(self.pictures)
        if len(time) > 1:
            time[-1] *= 4  # show the last picture longer
        self.pictures[0].save(self.path, save_all=True, append_images=self.pictures[1:], duration=time,
                              loop=0, optimize=True)


class Video:
    def __init__(self, path, rate):
        self.writer = vtk.vtkOggTheoraWriter()
        self.writer.SetFileName(path)
        self.writer.SetRate(max(1, int(rate)))
        self.writer.SetQuality(2)
        self.started = False

    def add(self, data):
        self.writer.SetInputData(data)
        if not self.started:
            self.writer.Start()
        self.started = True
        self.writer.Write()

    def close(self):
        self.writer.End()


class Folder:
    def __init__(self, path, rate):
        os.makedirs(path, exist_ok=True)
        self.path, self.n = path, 0

    def add(self, data):
        writer = vtk.vtkPNGWriter()
        writer.SetFileName(os.path.join(self.path, f"frame_{self.n:04d}.png"))
        writer.SetInputData(data)
        writer.Write()
        self.n += 1

    def close(self):
        pass


def open_output(path, rate):
    kind = {".gif": Gif, ".ogv": Video, "": Folder}.get(os.path.splitext(path)[1].lower())
    if not kind:
        render.fail(f"{path}: the output must be .gif, .ogv or the name of a folder")
    return kind(path, rate)


def box_of(path, field):
    """Corners of the whole mesh, so that all pictures have the same frame."""
    low_high = numpy.array(render.read_grid(path, field).GetBounds()).reshape(3, 2)
    return numpy.array([[low_high[i][k >> i & 1] for i in range(3)] for k in range(8)])


def caption(renderer, size):
    text = vtk.vtkTextActor()
    text.GetTextProperty().SetColor(0.25, 0.3, 0.36)
    text.GetTextProperty().SetFontSize(size)
    text.SetPosition(size // 2, size // 2)
    renderer.AddActor2D(text)
    return text


def animate_series(arguments, window, output):
    """The designs of a run, one picture each."""
    files = render.resolve(arguments.result)
    points = box_of(files[0][0], arguments.field)
    renderer = text = None
    for path, time in files:
        faces, edge = render.read_surface(path, arguments.field, arguments.threshold)
        actor = render.make_actor(faces, arguments.color)
        if not renderer:
            renderer = render.make_renderer(render.extent(points), edge)
            height, scale = render.aim(renderer, points, arguments.view, arguments.up, arguments.width)
            render.open_window(window, renderer, arguments.width, height)
            text = caption(renderer, max(14, arguments.width // 28) * render.SUPERSAMPLING)
        render.draw_edges(actor, arguments, edge * scale)
        renderer.AddActor(actor)
        text.SetInput("" if time is None else f"iteration {time:g}")
        window.Render()
        output.add(render.grab_picture(window).GetOutput())
        renderer.RemoveActor(actor)
    return len(files)


def animate_turn(arguments, window, output):
    """The last result in one full rotation."""
    path, _ = render.resolve(arguments.result)[-1]
    faces, edge = render.read_surface(path, arguments.field, arguments.threshold)
    points = vtk_to_numpy(faces.GetPoints().GetData()).astype(float)
    renderer = render.make_renderer(render.extent(points), edge)
    actor = render.make_actor(faces, arguments.color)
    renderer.AddActor(actor)
    # a rotating part fits the frame of its bounding sphere
    middle, radius = (points.min(axis=0) + points.max(axis=0)) / 2, render.extent(points) / 2
    ball = middle + radius * numpy.array(
        [[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if abs(i) + abs(j) + abs(k) == 1])
    height, scale = render.aim(renderer, ball, arguments.view, arguments.up, arguments.width)
    if not path.lower().endswith((".stl", ".ply")) or arguments.edges == "on":
        render.draw_edges(actor, arguments, edge * scale)
    render.open_window(window, renderer, arguments.width, height)
    for _ in range(arguments.turn):
        window.Render()
        output.add(render.grab_picture(window).GetOutput())
        renderer.GetActiveCamera().Azimuth(360.0 / arguments.turn)
        renderer.ResetCameraClippingRange()
    return arguments.turn


def main():
    arguments = parse_arguments()
    vtk.vtkObject.GlobalWarningDisplayOff()
    window = vtk.vtkRenderWindow()
    render.need_screen(window)
    output = open_output(arguments.output, arguments.rate)
    n = (animate_turn if arguments.turn else animate_series)(arguments, window, output)
    output.close()
    print(f"{arguments.output}: {n} pictures")


if __name__ == "__main__":
    main()
