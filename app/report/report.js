// The part of a report: WebGL 2, no library. Views share a camera as long as they are linked.
(function () {
  "use strict";
  const root = document.documentElement;
  window.addEventListener("error", e => { root.dataset.error = e.message; });

  // --- theme ---
  const theme = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  function showTheme() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", "Switch to the " + (isDark() ? "light" : "dark") + " colours");
    views.forEach(v => v.recolour());
  }
  const views = [];
  const asked = /theme=(dark|light)/.exec(location.hash);
  if (asked) root.dataset.theme = asked[1];
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  dark.addEventListener("change", showTheme);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach(d => { d.open = true; });
    views.forEach(v => v.draw());
  });

  // --- data ---
  function decode(text) {
    const s = atob(text), n = s.length, bytes = new Uint8Array(n);
    for (let i = 0; i < n; i++) bytes[i] = s.charCodeAt(i);
    return bytes;
  }
  function take(figure, name) {
    const node = figure.querySelector('script[data-name="' + name + '"]');
    const bytes = decode(node.textContent);
    node.remove();
    return bytes;
  }
  function decodeTriangles(bytes, n) {
    const tri = new Uint32Array(n);
    let at = 0, last = 0;
    for (let i = 0; i < n; i++) {
      let code = 0, scale = 1, b;
      do { b = bytes[at++]; code += (b & 127) * scale; scale *= 128; } while (b > 127);
      last += code & 1 ? -(code + 1) / 2 : code / 2;
      tri[i] = last;
    }
    return tri;
  }
  // Mean normals of the vertices, weighted with areas, in 8 bits.
  function makeNormals(xyz, tri, step) {
    const n = new Float32Array(xyz.length), out = new Int8Array(xyz.length / 3 * 4);
    for (let t = 0; t < tri.length; t += 3) {
      const a = 3 * tri[t], b = 3 * tri[t + 1], c = 3 * tri[t + 2];
      const ux = (xyz[b] - xyz[a]) * step[0], uy = (xyz[b + 1] - xyz[a + 1]) * step[1], uz = (xyz[b + 2] - xyz[a + 2]) * step[2];
      const vx = (xyz[c] - xyz[a]) * step[0], vy = (xyz[c + 1] - xyz[a + 1]) * step[1], vz = (xyz[c + 2] - xyz[a + 2]) * step[2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      n[a] += x; n[a + 1] += y; n[a + 2] += z;
      n[b] += x; n[b + 1] += y; n[b + 2] += z;
      n[c] += x; n[c + 1] += y; n[c + 2] += z;
    }
    for (let i = 0, k = 0; i < n.length; i += 3, k += 4) {
      const size = 127 / (Math.hypot(n[i], n[i + 1], n[i + 2]) || 1);
      for (let d = 0; d < 3; d++) out[k + d] = Math.round(n[i + d] * size);
    }
    return out;
  }
  // Each edge of the closed surface once: a half-edge goes up in one of its two triangles.
  function makeEdges(tri) {
    const edges = new Uint32Array(tri.length);
    let n = 0;
    for (let i = 0; i < tri.length; i++) {
      const a = tri[i], b = tri[i % 3 === 2 ? i - 2 : i + 1];
      if (a < b) { edges[n++] = a; edges[n++] = b; }
    }
    return edges.subarray(0, n);
  }

  // --- shaders ---
  const surfaceVertex = `#version 300 es
    in vec3 place; in vec3 normal; in float field; in float mask;
    uniform vec3 step_, centre; uniform mat3 turn; uniform vec4 view; uniform float bias;
    out vec3 at, n, v; out float value, masked;
    void main() {
      masked = mask;
      at = (place - centre) * step_;
      v = turn * at;
      n = turn * normal;
      value = field;
      gl_Position = vec4((v.xy + view.xy) * view.zw, -0.2 * v.z - bias, 1.0);
    }`;
  const surfaceFragment = `#version 300 es
    precision highp float;
    in vec3 at, n, v; in float value, masked;
    uniform vec4 plane; uniform vec3 plain; uniform float coloured; uniform sampler2D map;
    out vec4 colour;
    void main() {
      if (dot(plane.xyz, at) > plane.w) discard;
      vec3 flat_ = normalize(cross(dFdx(v), dFdy(v))), round_ = normalize(n);
      if (!gl_FrontFacing) round_ = -round_;
      if (flat_.z < 0.0) flat_ = -flat_;
      vec3 m = normalize(mix(round_, flat_, smoothstep(0.85, 0.7, dot(round_, flat_))));
      vec3 base = coloured > 0.5 ? texture(map, vec2(value, 0.5)).rgb : plain;
      if (coloured > 0.5 && masked > 0.5) { // no limit here: grey and hatched
        float s = abs(fract((gl_FragCoord.x + gl_FragCoord.y) / 9.0) - 0.5);
        base = mix(vec3(0.42), vec3(0.74), smoothstep(0.1, 0.2, s));
      }
      float key = max(dot(m, normalize(vec3(-0.45, 0.65, 0.65))), 0.0);
      float fill = max(dot(m, normalize(vec3(0.8, -0.2, 0.5))), 0.0);
      float sky = 0.5 + 0.5 * m.y;
      float gloss = pow(max(dot(m, normalize(vec3(-0.25, 0.35, 0.95))), 0.0), 40.0);
      vec3 lit = base * (0.34 + 0.14 * sky + 0.56 * key + 0.16 * fill) + 0.10 * gloss;
      if (!gl_FrontFacing) lit = base * 0.45;
      colour = vec4(lit, 1.0);
    }`;
  const lineFragment = `#version 300 es
    precision highp float;
    in vec3 at, n, v; in float value;
    uniform vec4 plane, ink; out vec4 colour;
    void main() { if (dot(plane.xyz, at) > plane.w) discard; colour = ink; }`;
  const capVertex = `#version 300 es
    in vec3 corner; uniform mat3 turn; uniform vec4 view; out vec3 at;
    void main() {
      at = turn * corner;
      gl_Position = vec4((at.xy + view.xy) * view.zw, -0.2 * at.z, 1.0);
    }`;
  const capFragment = `#version 300 es
    precision highp float; uniform vec4 ink, paper; out vec4 colour;
    void main() {
      float s = fract((gl_FragCoord.x + gl_FragCoord.y) / 11.0);
      colour = mix(paper, ink, smoothstep(0.12, 0.2, s) * smoothstep(0.42, 0.34, s) * 0.55);
    }`;

  function program(gl, vertex, fragment) {
    const p = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(type);
      gl.shaderSource(s, text.trim());
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    ["place", "normal", "field", "mask"].forEach((name, i) => gl.bindAttribLocation(p, i, name));
    gl.linkProgram(p);
    const uniform = {};
    for (let i = gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS) - 1; i >= 0; i--) {
      const name = gl.getActiveUniform(p, i).name;
      uniform[name] = gl.getUniformLocation(p, name);
    }
    return { p, uniform };
  }

  // --- turning: columns of a matrix, as WebGL has them ---
  const multiply = (a, b) => {
    const c = new Array(9);
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++)
        c[3 * j + i] = a[i] * b[3 * j] + a[3 + i] * b[3 * j + 1] + a[6 + i] * b[3 * j + 2];
    return c;
  };
  const aboutX = w => [1, 0, 0, 0, Math.cos(w), Math.sin(w), 0, -Math.sin(w), Math.cos(w)];
  const aboutY = w => [Math.cos(w), 0, -Math.sin(w), 0, 1, 0, Math.sin(w), 0, Math.cos(w)];
  const start = () => multiply(aboutX(0.5), multiply(aboutY(-0.65), aboutX(-Math.PI / 2)));
  const looks = {
    x: multiply(aboutY(-Math.PI / 2), aboutX(-Math.PI / 2)), y: aboutX(-Math.PI / 2), z: aboutX(0)
  };
  const newCamera = () => ({ turn: start(), zoom: 1, x: 0, y: 0, looks: 0 }); // looks: how often it was set
  const shared = newCamera();

  function colourOf(name, alpha) {
    const c = document.createElement("canvas").getContext("2d");
    c.fillStyle = getComputedStyle(root).getPropertyValue(name).trim();
    c.fillRect(0, 0, 1, 1);
    const d = c.getImageData(0, 0, 1, 1).data;
    return [d[0] / 255, d[1] / 255, d[2] / 255, alpha === undefined ? 1 : alpha];
  }

  // --- a view ---
  function View(figure) {
    const part = JSON.parse(figure.dataset.part);
    const canvas = figure.querySelector("canvas"), stage = figure.querySelector(".stage");
    const tools = figure.querySelector(".tools"), axes = figure.querySelector(".axes3");
    const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, preserveDrawingBuffer: true });
    if (!gl) { figure.classList.add("without"); return null; }
    let own = newCamera(), pending = false, lost = false, field = "", axis = -1, cut = 0.5, edges = false;
    let gpu = null, ink, plain;
    const link = document.getElementById("link");
    const camera = () => link && link.checked ? shared : own;

    const xyz = new Uint16Array(take(figure, "places").buffer);
    const tri = decodeTriangles(take(figure, "triangles"), 3 * part.triangles);
    const values = {};
    part.fields.forEach(name => { values[name] = take(figure, name); });
    const stress = part.stress || {}, mask = stress.mask ? take(figure, stress.mask) : null;
    const size = part.step.map(s => 65535 * s);
    const radius = 0.5 * Math.hypot(size[0], size[1], size[2]) || 1;
    const step = part.step.map(s => s / radius), half = size.map(s => 0.5 * s / radius);
    const normals = makeNormals(xyz, tri, part.step);

    function buffer(target, data) {
      const b = gl.createBuffer();
      gl.bindBuffer(target, b);
      gl.bufferData(target, data, gl.STATIC_DRAW);
      return b;
    }
    // Stops of a field's colours with their places from 0 to 1: those above the bound of stresses differ.
    function stopsOf(name) {
      const read = style => getComputedStyle(root).getPropertyValue(style).split(",").map(s => s.trim());
      const over = name === "stress" && stress.over !== undefined ? stress.over : 1;
      const spread = (list, from, to) => list.map((s, i) => [from + (to - from) * i / (list.length - 1), s]);
      return spread(read("--map"), 0, over).concat(over < 1 ? spread(read("--over"), over, 1) : []);
    }
    part.fields.forEach(name => {
      const bar = stage.querySelector('.bar[data-field="' + name + '"] .map');
      const stops = stopsOf(name).map(([x, s]) => s + " " + (100 * x).toFixed(2) + "%");
      bar.style.background = "linear-gradient(to right, " + stops.join(", ") + ")";
      if (name === "stress") (stress.marks || []).forEach(x => {
        const tick = document.createElement("i");
        tick.style.left = 100 * x + "%";
        bar.append(tick);
      });
    });
    function makeMap(name) {
      const texture = gl.createTexture();
      const line = document.createElement("canvas");
      line.width = 256; line.height = 1;
      const c = line.getContext("2d"), g = c.createLinearGradient(0, 0, 256, 0);
      stopsOf(name).forEach(([x, s]) => g.addColorStop(x, s));
      c.fillStyle = g;
      c.fillRect(0, 0, 256, 1);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, line);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      return texture;
    }
    function upload() {
      gpu = {
        surface: program(gl, surfaceVertex, surfaceFragment), line: program(gl, surfaceVertex, lineFragment),
        cap: program(gl, capVertex, capFragment), vertices: gl.createVertexArray(), quad: gl.createVertexArray(),
        edges: null, nEdge: 0, fields: {}, maps: {}
      };
      gl.bindVertexArray(gpu.vertices);
      buffer(gl.ARRAY_BUFFER, xyz);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, false, 6, 0);
      buffer(gl.ARRAY_BUFFER, normals);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 3, gl.BYTE, true, 4, 0);
      part.fields.forEach(name => { gpu.fields[name] = buffer(gl.ARRAY_BUFFER, values[name]); });
      if (mask) gpu.mask = buffer(gl.ARRAY_BUFFER, mask);
      gpu.triangles = buffer(gl.ELEMENT_ARRAY_BUFFER, tri);
      gl.bindVertexArray(gpu.quad);
      gpu.corners = buffer(gl.ARRAY_BUFFER, new Float32Array(12));
      gpu.corner = gl.getAttribLocation(gpu.cap.p, "corner");
      gl.enableVertexAttribArray(gpu.corner);
      gl.vertexAttribPointer(gpu.corner, 3, gl.FLOAT, false, 0, 0);
      part.fields.forEach(name => { gpu.maps[name] = makeMap(name); });
    }

    function viewOf() {
      const c = camera(), w = canvas.width, h = canvas.height, s = 0.92 * c.zoom * Math.min(w, h) * fit;
      return [c.x / c.zoom, c.y / c.zoom, s / w, s / h];
    }
    let fit = 1, fitted = -1;
    // The largest zoom with the part in the picture as it is turned, from some of its vertices.
    function findFit() {
      const t = camera().turn, every = 3 * Math.ceil(xyz.length / 60000);
      let x = 1e-3, y = 1e-3;
      for (let i = 0; i < xyz.length; i += every) {
        const a = (xyz[i] - 32767.5) * step[0], b = (xyz[i + 1] - 32767.5) * step[1], c = (xyz[i + 2] - 32767.5) * step[2];
        x = Math.max(x, Math.abs(t[0] * a + t[3] * b + t[6] * c));
        y = Math.max(y, Math.abs(t[1] * a + t[4] * b + t[7] * c));
      }
      fit = Math.min(canvas.width / x, canvas.height / y) / Math.min(canvas.width, canvas.height);
    }
    function use(shader) {
      const u = shader.uniform, c = camera();
      gl.useProgram(shader.p);
      gl.uniformMatrix3fv(u.turn, false, c.turn);
      gl.uniform4fv(u.view, viewOf());
      if (u.step_) gl.uniform3fv(u.step_, step);
      if (u.centre) gl.uniform3f(u.centre, 32767.5, 32767.5, 32767.5);
      if (u.plane) gl.uniform4fv(u.plane, plane());
      if (u.bias) gl.uniform1f(u.bias, 0);
      return u;
    }
    // Kept is what lies before it; none: all.
    function plane() {
      if (axis < 0) return [0, 0, 0, 1];
      const p = [0, 0, 0, (2 * cut - 1) * half[axis] * 1.0001];
      p[axis] = 1;
      if (camera().turn[3 * axis + 2] < 0) { p[axis] = -1; p[3] = -p[3]; } // the side towards the eye goes
      return p;
    }
    function drawTriangles() {
      gl.bindVertexArray(gpu.vertices);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gpu.triangles);
      gl.drawElements(gl.TRIANGLES, tri.length, gl.UNSIGNED_INT, 0);
    }
    // Where a ray from the plane on goes through the surface an odd number of times, it is in the solid.
    function markCap() {
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.ALWAYS, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INVERT);
      gl.colorMask(false, false, false, false);
      gl.disable(gl.DEPTH_TEST);
      use(gpu.line);
      drawTriangles();
      gl.colorMask(true, true, true, true);
      gl.enable(gl.DEPTH_TEST);
      gl.disable(gl.STENCIL_TEST);
    }
    function drawCap() {
      const p = plane(), a = (axis + 1) % 3, b = (axis + 2) % 3, corners = new Float32Array(12);
      for (let i = 0; i < 4; i++) {
        corners[3 * i + axis] = p[3] * p[axis];
        corners[3 * i + a] = (i & 1 ? 1 : -1) * half[a] * 1.01;
        corners[3 * i + b] = (i & 2 ? 1 : -1) * half[b] * 1.01;
      }
      const u = use(gpu.cap);
      gl.uniform4fv(u.ink, ink);
      gl.uniform4fv(u.paper, plain);
      gl.bindVertexArray(gpu.quad);
      gl.bindBuffer(gl.ARRAY_BUFFER, gpu.corners);
      gl.bufferData(gl.ARRAY_BUFFER, corners, gl.DYNAMIC_DRAW);
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.NOTEQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.KEEP);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      gl.disable(gl.STENCIL_TEST);
    }
    function drawEdges() {
      gl.bindVertexArray(gpu.vertices);
      if (!gpu.edges) {
        const e = makeEdges(tri);
        gpu.edges = buffer(gl.ELEMENT_ARRAY_BUFFER, e);
        gpu.nEdge = e.length;
      }
      const u = use(gpu.line);
      gl.uniform1f(u.bias, 0.0004);
      gl.uniform4f(u.ink, 0, 0, 0, 0.38);
      gl.enable(gl.BLEND);
      gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gpu.edges);
      gl.drawElements(gl.LINES, gpu.nEdge, gl.UNSIGNED_INT, 0);
      gl.disable(gl.BLEND);
    }
    function drawAxes() {
      const t = camera().turn, order = [0, 1, 2].sort((i, j) => t[3 * i + 2] - t[3 * j + 2]);
      axes.innerHTML = order.map(i => {
        const x = 22 * t[3 * i], y = -22 * t[3 * i + 1];
        return `<path class="a${i}" d="M0 0L${x.toFixed(1)} ${y.toFixed(1)}"/>` +
          `<text x="${(1.3 * x).toFixed(1)}" y="${(1.3 * y + 3.5).toFixed(1)}">${"xyz"[i]}</text>`;
      }).join("");
    }
    // A ring about the largest stress, in front of the part.
    const place = stage.querySelector(".place");
    let nearest = 0; // vertex to the largest stress
    if (stress.point) {
      place.textContent = Number(stress.largest.toPrecision(4));
      let least = Infinity;
      for (let v = 0; v < part.vertices; v++) {
        const off = Math.hypot(...stress.point.map((x, d) => part.min[d] + part.step[d] * xyz[3 * v + d] - x));
        if (off < least) { least = off; nearest = v; }
      }
    }
    function movePlace() {
      const c = camera(), p = stress.point;
      place.hidden = !p || field !== "stress";
      if (place.hidden) return;
      const at = p.map((x, d) => (x - part.min[d]) / radius - half[d]), s = viewOf();
      const x = c.turn[0] * at[0] + c.turn[3] * at[1] + c.turn[6] * at[2], y = c.turn[1] * at[0] + c.turn[4] * at[1] + c.turn[7] * at[2];
      const n = [0, 1, 2].map(d => normals[4 * nearest + d]);
      place.classList.toggle("behind", c.turn[2] * n[0] + c.turn[5] * n[1] + c.turn[8] * n[2] < 0);
      place.style.left = (50 + 50 * (x + s[0]) * s[2]) * canvas.clientWidth / 100 + "px";
      place.style.top = (50 - 50 * (y + s[1]) * s[3]) * canvas.clientHeight / 100 + "px";
    }
    function draw() {
      pending = false;
      if (lost || !canvas.width) return;
      if (!gpu) upload();
      if (fitted !== camera().looks) { fitted = camera().looks; findFit(); }
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clearStencil(0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
      gl.enable(gl.DEPTH_TEST);
      if (axis >= 0) markCap();
      const u = use(gpu.surface);
      gl.bindVertexArray(gpu.vertices);
      if (field) {
        gl.bindBuffer(gl.ARRAY_BUFFER, gpu.fields[field]);
        gl.enableVertexAttribArray(2);
        gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, true, 1, 0);
        gl.bindTexture(gl.TEXTURE_2D, gpu.maps[field]);
      } else gl.disableVertexAttribArray(2);
      if (mask && field === "stress") {
        gl.bindBuffer(gl.ARRAY_BUFFER, gpu.mask);
        gl.enableVertexAttribArray(3);
        gl.vertexAttribPointer(3, 1, gl.UNSIGNED_BYTE, true, 1, 0);
      } else gl.disableVertexAttribArray(3);
      gl.uniform1f(u.coloured, field ? 1 : 0);
      gl.uniform3f(u.plain, plain[0], plain[1], plain[2]);
      drawTriangles();
      if (edges) drawEdges();
      if (axis >= 0) drawCap();
      drawAxes();
      movePlace();
      if (!canvas.dataset.pixels) countPixels();
    }
    // How many are drawn, for tests: nobody sees an empty picture in them.
    function countPixels() {
      const p = new Uint8Array(4 * canvas.width * canvas.height);
      gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, p);
      let n = 0;
      for (let i = 3; i < p.length; i += 4) n += p[i] > 0;
      canvas.dataset.pixels = n;
    }
    function ask() {
      if (!pending) { pending = true; requestAnimationFrame(draw); }
    }
    const askAll = () => { if (camera() === shared) views.forEach(v => v.ask()); else ask(); };

    // --- input ---
    function rotate(dx, dy) {
      const c = camera();
      c.turn = multiply(multiply(aboutX(dy), aboutY(dx)), c.turn);
      askAll();
    }
    function pan(dx, dy) {
      const c = camera(), s = 2 / (0.92 * Math.min(canvas.clientWidth, canvas.clientHeight) * fit);
      c.x += dx * s;
      c.y -= dy * s;
      askAll();
    }
    function zoom(factor, x, y) {
      const c = camera(), next = Math.min(Math.max(c.zoom * factor, 0.2), 60), r = canvas.getBoundingClientRect();
      const s = 2 / (0.92 * Math.min(r.width, r.height) * fit), k = next / c.zoom;
      const px = x === undefined ? 0 : (x - r.left - r.width / 2) * s, py = y === undefined ? 0 : (r.top + r.height / 2 - y) * s;
      c.x = px + (c.x - px) * k;
      c.y = py + (c.y - py) * k;
      c.zoom = next;
      askAll();
    }
    function look(name) {
      const c = camera();
      if (looks[name]) c.turn = looks[name].slice(); else if (name === "reset") c.turn = start();
      c.zoom = 1; c.x = 0; c.y = 0; c.looks++;
      askAll();
    }
    const pointers = new Map();
    canvas.addEventListener("pointerdown", e => {
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
      canvas.setPointerCapture(e.pointerId);
      canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", e => {
      const before = pointers.get(e.pointerId);
      if (!before) return;
      const dx = e.clientX - before[0], dy = e.clientY - before[1];
      if (pointers.size === 2) {
        const other = [...pointers].find(p => p[0] !== e.pointerId)[1];
        const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
        const is = Math.hypot(e.clientX - other[0], e.clientY - other[1]);
        pan(dx / 2, dy / 2);
        if (was > 8) zoom(is / was, (e.clientX + other[0]) / 2, (e.clientY + other[1]) / 2);
      } else if (e.shiftKey || e.buttons & 6) pan(dx, dy);
      else rotate(dx * 0.008, dy * 0.008);
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(end, e => pointers.delete(e.pointerId));
    canvas.addEventListener("contextmenu", e => e.preventDefault());
    canvas.addEventListener("dblclick", () => look("reset"));
    canvas.addEventListener("wheel", e => {
      if (document.activeElement !== canvas && !e.ctrlKey) return; // the page scrolls
      e.preventDefault();
      zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.clientX, e.clientY);
    }, { passive: false });
    canvas.addEventListener("keydown", e => {
      const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      if (arrows) { if (e.shiftKey) pan(24 * arrows[0], 24 * arrows[1]); else rotate(0.1 * arrows[0], 0.1 * arrows[1]); }
      else if (e.key === "+" || e.key === "=") zoom(1.2);
      else if (e.key === "-") zoom(1 / 1.2);
      else if (looks[e.key] || e.key === "f") look(e.key);
      else if (e.key === "r") look("reset");
      else if (e.key === "e") { tools.querySelector("[name=edges]").click(); }
      else return;
      e.preventDefault();
    });
    tools.addEventListener("click", e => { if (e.target.dataset.view) look(e.target.dataset.view); });
    tools.addEventListener("input", readTools);
    function readTools() {
      const get = name => tools.querySelector("[name=" + name + "]");
      const range = get("cut");
      field = get("colour").value;
      edges = get("edges").checked;
      axis = get("axis").value === "" ? -1 : Number(get("axis").value);
      cut = range.value / 1000;
      range.disabled = axis < 0;
      const out = tools.querySelector("output");
      out.textContent = axis < 0 ? "" : (part.min[axis] + cut * size[axis]).toPrecision(4).replace(/\.?0+$/, "") + part.unit;
      figure.querySelectorAll("[data-field]").forEach(b => { b.hidden = b.dataset.field !== field; });
      ask();
    }
    function resize() {
      const scale = Math.min(window.devicePixelRatio || 1, 3);
      const w = Math.round(canvas.clientWidth * scale), h = Math.round(canvas.clientHeight * scale);
      if (w !== canvas.width || h !== canvas.height) { canvas.width = w; canvas.height = h; fitted = -1; ask(); }
    }
    canvas.addEventListener("webglcontextlost", e => { e.preventDefault(); lost = true; });
    canvas.addEventListener("webglcontextrestored", () => { lost = false; gpu = null; ask(); });
    new ResizeObserver(resize).observe(canvas);
    window.addEventListener("resize", resize);

    const view = {
      ask, draw, look, readTools, tools,
      recolour() { ink = colourOf("--cap-ink"); plain = colourOf("--metal"); ask(); },
      adopt() { own = { turn: shared.turn.slice(), zoom: shared.zoom, x: shared.x, y: shared.y, looks: shared.looks }; ask(); }
    };
    view.recolour();
    readTools();
    resize();
    draw();
    return view;
  }

  document.querySelectorAll("figure.part").forEach(figure => {
    const view = View(figure);
    if (view) views.push(view);
  });
  const link = document.getElementById("link");
  if (link) link.addEventListener("change", () => views.forEach(v => v.adopt()));
  // Tools of linked views say the same.
  if (views.length > 1) views.forEach(v => v.tools.addEventListener("input", e => {
    if (!link.checked || !e.target.name) return;
    views.forEach(w => {
      const twin = w.tools.querySelector("[name=" + e.target.name + "]");
      if (w === v || !twin) return;
      if (twin.type === "checkbox") twin.checked = e.target.checked;
      else if (twin.tagName !== "SELECT" || [...twin.options].some(o => o.value === e.target.value)) twin.value = e.target.value;
      w.readTools();
    });
  }));
  showTheme();
  root.dataset.views = views.length;
  root.dataset.ready = "yes";
})();
