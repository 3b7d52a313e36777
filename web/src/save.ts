// Files that the page makes for its reader.

/** save lets the reader keep a file. */
export function save(name: string, media: string, content: string | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type: media }));
  const a = document.createElement('a');
  a.href = url;
  a.download = name.replace(/[^\p{L}\p{N}._-]+/gu, '-');
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const looks = ['fill', 'stroke', 'stroke-width', 'font', 'text-anchor', 'opacity'];

/** drawing is an SVG with its looks in it, so that it is whole without this page's style. */
export function drawing(from: SVGSVGElement): { text: string; width: number; height: number } {
  const copy = from.cloneNode(true) as SVGSVGElement;
  const a = [from, ...from.querySelectorAll('*')], b = [copy, ...copy.querySelectorAll('*')];
  a.forEach((e, i) => {
    const is = getComputedStyle(e);
    for (const name of looks) b[i]!.setAttribute(name, is.getPropertyValue(name));
    b[i]!.removeAttribute('class');
    b[i]!.removeAttribute('tabindex');
  });
  const box = from.viewBox.baseVal;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(box.width));
  copy.setAttribute('height', String(box.height));
  return { text: new XMLSerializer().serializeToString(copy), width: box.width, height: box.height };
}

/** png draws an SVG as a picture of points, on a ground of a colour. */
export async function png(from: SVGSVGElement, ground: string): Promise<Blob> {
  const d = drawing(from);
  const url = URL.createObjectURL(new Blob([d.text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const by = Math.min(2, 8000 / Math.max(d.width, d.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(d.width * by);
    canvas.height = Math.round(d.height * by);
    const c = canvas.getContext('2d')!;
    c.fillStyle = ground;
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => canvas.toBlob((b) => b ? done(b) : fail(new Error('no picture'))));
  } finally {
    URL.revokeObjectURL(url);
  }
}
