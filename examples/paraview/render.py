#!/usr/bin/env python3
"""A picture of an optimised topology: the cells whose density is above a threshold, or a surface.

    python3 render.py RESULT.vtk PICTURE.png [--threshold 0.9] [--field density] [--view x,y,z]
    python3 render.py PART.stl PICTURE.png

RESULT is a .vtk file of hextop, a .vtk.series or the folder of a run (its last file is shown), PART what `hextop surface`
wrote (.stl, .ply). Runs with pvpython too. Without a screen it starts itself again under xvfb-run.
Debian: python3-vtk9 python3-numpy xvfb xauth. animate.py makes animations."""

import argparse
import json
import math
import os
import shutil
import sys

try:
    import numpy
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as missing:
    # Debian's packages belong to the system's Python, which need not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    sys.exit(f"render.py: {missing}. Debian: apt install python3-vtk9 python3-numpy")

SUPERSAMPLING = 2  # rendered larger, then averaged: edges are smooth with any driver
EDGE_PIXELS = 7  # element edges are drawn if an element is at least this wide in the picture


def vector(text):
    parts = [float(part) for part in text.split(",")]
    if len(parts) != 3 or not any(parts):
        raise argparse.ArgumentTypeError(f"'{text}': expected three numbers x,y,z that are not all 0")
    return parts


def colour(text):
    digits = text.lstrip("#")
    try:
        if len(digits) != 6:
            raise ValueError
        return [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}': expected a colour like #6d93b8") from None


def add_look(parser):
    """Adds the options for what is shown and from where."""
    parser.add_argument("--threshold", type=float, default=0.9, help="default 0.9")
    parser.add_argument("--field", default="density", help="cell array, default density")
    parser.add_argument(
        "--view", type=vector, default=[0.75, -2.0, 0.8], metavar="X,Y,Z",
        help="direction from the part to the eye, default 0.75,-2,0.8 (write --view=-1,... if it "
        "starts with a minus sign)",
    )
    parser.add_argument(
        "--up", type=vector, metavar="X,Y,Z", help="upwards in the picture, default 0,0,1"
    )
    parser.add_argument("--color", type=colour, default="#8fb4d9", help="default #8fb4d9")
    parser.add_argument("--edges", choices=("auto", "on", "off"), default="auto")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="A picture of an optimised topology: the cells above a density threshold, or a surface."
    )
    parser.add_argument("result", help=".vtk file, .vtk.series or a run's folder (its last file), .stl or .ply")
    parser.add_argument("picture", help=".png file to write")
    add_look(parser)
    parser.add_argument("--width", type=int, default=1600, help="pixels, default 1600")
    return parser.parse_args()


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def resolve(path):
    """The files of a series, or of a run's folder, with their times, or the file itself."""
    if os.path.isdir(path):
        folder, path = path, os.path.join(path, "density.vtk.series")
        if not os.path.isfile(path):
            fail(f"{folder}: the folder has no density.vtk.series, which `hextop run` writes")
    if not os.path.isfile(path):
        fail(f"{path}: no such file")
    if not path.endswith(".series"):
        return [(path, None)]
    try:
        with open(path, encoding="utf-8") as series:
            files = json.load(series)["files"]
        folder = os.path.dirname(path)
        found = [(os.path.join(folder, entry["name"]), entry["time"]) for entry in files]
    except (ValueError, KeyError, TypeError):
        found = []
    if not found:
        fail(f"{path}: the series file lists no file")
    return found


def read_grid(path, field):
    reader = vtk.vtkUnstructuredGridReader()
    reader.SetFileName(path)
    reader.ReadAllScalarsOn()
    reader.ReadAllFieldsOn()
    reader.Update()
    grid = reader.GetOutput()
    if grid.GetNumberOfCells() == 0:
        fail(f"{path}: VTK reads no cell from it; the file must be a legacy VTK file with an unstructured grid")
    data = grid.GetCellData()
    names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
    if field not in names:
        fail(f"{path}: no cell array '{field}'; it has {', '.join(names) or 'none'}")
    return grid


def mean_edge(faces, n_corner):
    points = vtk_to_numpy(faces.GetPoints().GetData())
    corners = vtk_to_numpy(faces.GetPolys().GetConnectivityArray()).reshape(-1, n_corner)
    edges = points[corners] - points[numpy.roll(corners, 1, axis=1)]
    return float(numpy.linalg.norm(edges, axis=2).mean())


def read_triangles(path):
    """A surface, with normals that keep sharp edges sharp, and its mean edge length."""
    reader = vtk.vtkSTLReader() if path.lower().endswith(".stl") else vtk.vtkPLYReader()
    reader.SetFileName(path)
    reader.Update()
    if reader.GetOutput().GetNumberOfPolys() == 0:
        fail(f"{path}: VTK reads no triangle from it")
    edge = mean_edge(reader.GetOutput(), 3)
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputConnection(reader.GetOutputPort())
    normals.SetFeatureAngle(40)
    normals.Update()
    print(f"{path}: {reader.GetOutput().GetNumberOfPolys()} triangles")
    return normals.GetOutput(), edge


def read_surface(path, field, threshold):
    """The surface to show, and its mean edge length."""
    if path.lower().endswith((".stl", ".ply")):
        return read_triangles(path)
    return read_cells(path, field, threshold)


def read_cells(path, field, threshold):
    """Outer faces of the cells above the threshold, and the mean edge length of those cells."""
    grid = read_grid(path, field)
    cells = vtk.vtkThreshold()
    cells.SetInputData(grid)
    cells.SetInputArrayToProcess(0, 0, 0, vtk.vtkDataObject.FIELD_ASSOCIATION_CELLS, field)
    if hasattr(cells, "SetUpperThreshold"):
        cells.SetThresholdFunction(vtk.vtkThreshold.THRESHOLD_UPPER)
        cells.SetUpperThreshold(threshold)
    else:
        cells.ThresholdByUpper(threshold)
    cells.Update()
    if cells.GetOutput().GetNumberOfCells() == 0:
        low, high = grid.GetCellData().GetArray(field).GetRange()
        fail(f"{path}: no cell with {field} >= {threshold}; it goes from {low:g} to {high:g}")

    surface = vtk.vtkDataSetSurfaceFilter()
    surface.SetInputConnection(cells.GetOutputPort())
    surface.Update()
    faces = surface.GetOutput()
    n_shown, n_all = cells.GetOutput().GetNumberOfCells(), grid.GetNumberOfCells()
    print(f"{path}: {n_shown} of {n_all} cells have {field} >= {threshold:g}")
    return faces, mean_edge(faces, 4)


def make_actor(faces, base):
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(faces)
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    look = actor.GetProperty()
    look.SetColor(base)
    if not faces.GetPointData().GetNormals():
        look.SetInterpolationToFlat()
    look.SetAmbient(0.3)
    look.SetDiffuse(0.8)
    look.SetSpecular(0.12)
    look.SetSpecularPower(25)
    return actor


def add_lights(renderer, size):
    """A warm key light over the left shoulder, a cool fill from the right, a rim from behind."""
    renderer.AutomaticLightCreationOff()
    for direction, tint, intensity in (
        ((-0.7, 1.0, 1.3), (1.0, 0.98, 0.95), 0.95),
        ((1.2, 0.15, 0.8), (0.92, 0.96, 1.0), 0.55),
        ((0.2, 0.9, -1.0), (1.0, 1.0, 1.0), 0.25),
    ):
        light = vtk.vtkLight()
        light.SetLightTypeToCameraLight()
        light.SetPosition([size * part for part in direction])
        light.SetFocalPoint(0, 0, 0)
        light.SetColor(tint)
        light.SetIntensity(intensity)
        renderer.AddLight(light)


def add_occlusion(renderer, size, edge):
    """Darkens hollows, which shows the depth of a truss, if this VTK supports it."""
    if not hasattr(vtk, "vtkSSAOPass"):
        return
    occlusion = vtk.vtkSSAOPass()
    occlusion.SetRadius(min(0.09 * size, 6 * edge))
    occlusion.SetBias(0.2 * edge)
    occlusion.SetKernelSize(64)
    occlusion.BlurOn()
    steps = vtk.vtkRenderStepsPass()
    occlusion.SetDelegatePass(steps)
    renderer.SetPass(occlusion)


def projected_box(camera, points, aspect):
    """Centre and half width of the points in the picture, which spans -1 to 1."""
    matrix = camera.GetCompositeProjectionTransformMatrix(aspect, -1, 1)
    rows = numpy.array([[matrix.GetElement(i, j) for j in range(4)] for i in range(4)])
    image = numpy.c_[points, numpy.ones(len(points))] @ rows.T
    image = image[:, :2] / image[:, 3:]
    low, high = image.min(axis=0), image.max(axis=0)
    return (low + high) / 2, (high - low) / 2


def aim(renderer, points, view, up, width):
    """Points the camera and frames the part; returns the picture's height and its scale."""
    camera = renderer.GetActiveCamera()
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    view = numpy.array(view) / numpy.linalg.norm(view)
    if up is None:
        up = [0, 0, 1] if abs(view[2]) < 0.95 else [0, 1, 0]
    if numpy.linalg.norm(numpy.cross(view, up)) < 1e-3 * numpy.linalg.norm(up):
        fail("--up must not be parallel to --view")
    camera.SetViewAngle(18)
    camera.SetFocalPoint(centre)
    camera.SetPosition(centre + view)
    camera.SetViewUp(up)
    bounds = numpy.c_[points.min(axis=0), points.max(axis=0)].ravel()
    renderer.ResetCamera(bounds)
    _, half = projected_box(camera, points, 1.0)
    height = int(width * min(max(half[1] / half[0] * 1.02, 0.3), 1.3))
    aspect = width / height
    for _ in range(4):  # moving the centre and zooming affect each other slightly
        middle, half = projected_box(camera, points, aspect)
        old = camera.GetWindowCenter()
        camera.SetWindowCenter(old[0] + middle[0], old[1] + middle[1])
        camera.Zoom(0.94 / max(half))
    renderer.ResetCameraClippingRange(bounds)
    distance = camera.GetDistance()
    pixels_per_length = height / (2 * distance * math.tan(math.radians(camera.GetViewAngle() / 2)))
    return height, pixels_per_length


def grab_picture(window):
    """The picture in the window as the output of a VTK algorithm."""
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.SetInputBufferTypeToRGB()
    grab.ReadFrontBufferOff()
    shrink = vtk.vtkImageShrink3D()
    shrink.SetInputConnection(grab.GetOutputPort())
    shrink.SetShrinkFactors(SUPERSAMPLING, SUPERSAMPLING, 1)
    shrink.AveragingOn()
    shrink.Update()
    return shrink


def write_picture(window, path, width, height):
    shrink = grab_picture(window)
    writer = vtk.vtkPNGWriter()
    writer.SetFileName(path)
    writer.SetInputConnection(shrink.GetOutputPort())
    writer.Write()
    if writer.GetErrorCode() != 0 or not os.path.exists(path):
        fail(f"{path}: cannot write it")
    print(f"{path}: {width} x {height} pixels")


def need_screen(window):
    """Debian's VTK aborts without an X server: start again under a virtual one."""
    if os.environ.get("DISPLAY") or window.GetClassName() != "vtkXOpenGLRenderWindow":
        return
    if not shutil.which("xvfb-run"):
        fail("there is neither a screen nor xvfb-run. Debian: apt install xvfb xauth")
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24"]
    # pvpython may name an interpreter that does not exist.
    python = sys.executable if os.path.exists(sys.executable or "") else "python3"
    os.execvp(screen[0], screen + [python] + sys.argv)


def make_renderer(size, edge):
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(0.93, 0.945, 0.96)
    renderer.SetBackground2(1.0, 1.0, 1.0)
    renderer.GradientBackgroundOn()
    add_lights(renderer, size)
    add_occlusion(renderer, size, edge)
    return renderer


def draw_edges(actor, arguments, pixels):
    """Edges of elements, `pixels` long in the picture, if they can be distinguished."""
    if arguments.edges == "off" or (arguments.edges == "auto" and pixels < EDGE_PIXELS):
        return
    look = actor.GetProperty()
    look.EdgeVisibilityOn()
    look.SetEdgeColor([0.6 * part for part in arguments.color])
    look.SetLineWidth(0.7 * SUPERSAMPLING)


def open_window(window, renderer, width, height):
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(width * SUPERSAMPLING, height * SUPERSAMPLING)
    window.AddRenderer(renderer)


def extent(points):
    return float(numpy.linalg.norm(points.max(axis=0) - points.min(axis=0)))


def main():
    arguments = parse_arguments()
    vtk.vtkObject.GlobalWarningDisplayOff()  # the script prints its own errors
    window = vtk.vtkRenderWindow()
    need_screen(window)
    path, _ = resolve(arguments.result)[-1]
    faces, edge = read_surface(path, arguments.field, arguments.threshold)
    points = vtk_to_numpy(faces.GetPoints().GetData()).astype(float)
    renderer = make_renderer(extent(points), edge)
    actor = make_actor(faces, arguments.color)
    renderer.AddActor(actor)
    height, scale = aim(renderer, points, arguments.view, arguments.up, arguments.width)
    if not path.lower().endswith((".stl", ".ply")) or arguments.edges == "on":
        draw_edges(actor, arguments, edge * scale)
    open_window(window, renderer, arguments.width, height)
    window.Render()
    write_picture(window, arguments.picture, arguments.width, height)


if __name__ == "__main__":
    main()
