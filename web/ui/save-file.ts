/** Passes a file to the browser, which saves it in its download folder. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // Delayed: the browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Returns a file name that is valid on every system. */
export function fileNameOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}
