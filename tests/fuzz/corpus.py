#!/usr/bin/env python3
"""Makes the initial corpora of the fuzzer: corpus.py SRCDIR OUT

OUT/TARGET/: the inputs kept in tests/fuzz/seeds and tests/fuzz/found, and configs, mesh files and models from the
tree, in the form that the target expects.
"""
import glob, os, random, shutil, struct, sys

src, out = sys.argv[1], sys.argv[2]
MOST = 20000
ENDINGS = ['.vtk', '.pvtu', '.vtu', '.msh', '.inp', '.cdb', '.bdf', '.nas', '.fem', '.mesh', '.unv', '.exo', '.e', '.ex2', '.g', '.xml']


def put(target, name, data):
    if len(data) > MOST:
        return
    os.makedirs(f'{out}/{target}', exist_ok=True)
    with open(f'{out}/{target}/{name}', 'wb') as f:
        f.write(data)


def files(*patterns):
    return sorted(f for p in patterns for f in glob.glob(f'{src}/{p}'))


def read(path):
    with open(path, 'rb') as f:
        return f.read()


for path in files('tests/fuzz/seeds/*/*', 'tests/fuzz/found/*/*'):
    put(path.split('/')[-2], 'kept_' + path.split('/')[-1], read(path))

for i, path in enumerate(files('tests/bad/*.cfg', 'configs/*.cfg', 'examples/*/*.cfg')):
    text = read(path)
    put('config', f'tree{i}', text)
    put('config', f'tree{i}_args', text + b'\n%%\nmesh.size=2\nloads[0].case=1\noutput.fields=density,sets\n'
        b'supports[0].value=[0, 0.5, 1]\nunits=N, mm, MPa\nsolver.threads=\n')

for i, path in enumerate(files('tests/bad/*', 'examples/meshes/*', 'examples/*/*', 'tests/files/forms.*')):
    ending = os.path.splitext(path)[1]
    if ending in ENDINGS:
        put('mesh', f'tree{i}', bytes([ENDINGS.index(ending)]) + read(path))

# A tetrahedron as a surface; unit texts; the head of a kept mesh.
corner = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
triangles = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
text = 'solid t\n' + ''.join(
    'facet normal 0 0 0\nouter loop\n' + ''.join('vertex %g %g %g\n' % corner[a] for a in t) + 'endloop\nendfacet\n'
    for t in triangles) + 'endsolid t\n'
binary = b'\0' * 80 + struct.pack('<I', 4) + b''.join(
    struct.pack('<12fH', 0, 0, 0, *corner[t[0]], *corner[t[1]], *corner[t[2]], 0) for t in triangles)
head = 'ply\nformat %s 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n' \
    'element face 4\nproperty list uchar int vertex_indices\nend_header\n'
ply = (head % 'ascii' + ''.join('%g %g %g\n' % c for c in corner) + ''.join('3 %d %d %d\n' % t for t in triangles))
plies = [ply.encode()]
for order, sign in (('binary_little_endian', '<'), ('binary_big_endian', '>')):
    plies.append((head % order).encode() + b''.join(struct.pack(sign + '3f', *c) for c in corner) +
                 b''.join(struct.pack(sign + 'B3i', 3, *t) for t in triangles))
for i, data in enumerate([text.encode(), binary]):
    put('triangles', f'stl{i}', b'\0' + data)
    put('models', f'stl{i}', b'\0' + data)
for i, data in enumerate(plies):
    put('triangles', f'ply{i}', b'\1' + data)
put('models', 'step', b'\1ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\n#1=(LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.));\n'
    b"#2=(CONVERSION_BASED_UNIT('INCH',#3) LENGTH_UNIT() NAMED_UNIT(#4));\n"
    b'#5=(GEOMETRIC_REPRESENTATION_CONTEXT(3) GLOBAL_UNIT_ASSIGNED_CONTEXT((#1,#2)) REPRESENTATION_CONTEXT());\nENDSEC;\n')
iges = '%-72sS%7d\n' % ('a part', 1) + '%-72sG%7d\n' % ('1H,,1H;,4Hpart,8Hpart.igs,4Hhere,4H1.0,32,38,6,308,15,4Hpart,1.0,2,2HMM,1,', 1) \
    + '%-72sG%7d\n' % ('0.0,13H261122.000000;', 2)
put('models', 'iges', b'\2' + iges.encode())
put('models', 'kept', b'\3$Comments\nhextop: the mesh of a CAD model; not made again as long as these agree\n'
    b'key 0000000000000000 0000000000000001 body cbf29ce484222325\ngmsh 4.8.4\n'
    b'size 1 solids 1 faces 6 elements 10 worst 0.5 median 0.7 volume 1\n$EndComments\n')

generator = random.Random(14)
for i in range(60):
    put('loads', f'drawn{i}', bytes(generator.randrange(256) for _ in range(generator.randrange(40, 300))))
for i in range(30):
    patch = bytes([1])
    for _ in range(generator.randrange(1, 6)):
        n = generator.randrange(1, 9)
        patch += struct.pack('<HB', generator.randrange(8000), n) + bytes(generator.randrange(256) for _ in range(n))
    put('checkpoint', f'patch{i}', patch)
