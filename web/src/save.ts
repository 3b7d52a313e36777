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
