import { saveFile } from './save-file.ts'

/** The attribute of elements that an image omits, such as buttons. */
export const notInImages = { 'data-not-in-images': true }

/** Elements of a chart that appear only on hover. */
const pointedAt = '.recharts-tooltip-wrapper'

/** Saves an element as `<name>.png`, at twice its size. */
export async function savePng(name: string, element: HTMLElement): Promise<void> {
  const { domToBlob } = await import('modern-screenshot')
  const image = await domToBlob(element, {
    type: 'image/png',
    scale: 2,
    backgroundColor: getComputedStyle(document.body).backgroundColor,
    filter: (node) => !(node instanceof HTMLElement && ('notInImages' in node.dataset || node.matches(pointedAt))),
    // Text uses the system's font: an image cannot read the page's font files.
    font: false,
  })
  saveFile(`${name}.png`, image)
}
