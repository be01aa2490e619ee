import { saveFile } from './save-file.ts'

/** Attribute of what an image leaves out: buttons. */
export const notInImages = { 'data-not-in-images': true }

/** What a chart shows only where somebody points at it. */
const pointedAt = '.recharts-tooltip-wrapper'

/** Saves what an element shows as `<name>.png`, at twice its size. */
export async function savePng(name: string, element: HTMLElement): Promise<void> {
  const { domToBlob } = await import('modern-screenshot')
  const image = await domToBlob(element, {
    type: 'image/png',
    scale: 2,
    backgroundColor: getComputedStyle(document.body).backgroundColor,
    filter: (node) => !(node instanceof HTMLElement && ('notInImages' in node.dataset || node.matches(pointedAt))),
    // Text is drawn in the system's font: those of the page are files that an image cannot read.
    font: false,
  })
  saveFile(`${name}.png`, image)
}
