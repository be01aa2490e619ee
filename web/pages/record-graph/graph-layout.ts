import { hierarchy, tree } from 'd3-hierarchy'
import type { ShownNode } from './graph-model.ts'

export const nodeWidth = 220
export const nodeHeight = 56
const columnWidth = nodeWidth + 90
const rowHeight = nodeHeight + 14

export interface PlacedNode {
  shown: ShownNode
  /** The position of the upper left corner. */
  x: number
  y: number
  parentId: string | undefined
}

/**
 * Places records in columns, by their hops from the root. Records do not overlap, and each is beside those it leads to.
 */
export function placed(root: ShownNode): PlacedNode[] {
  const laidOut = tree<ShownNode>()
    .nodeSize([rowHeight, columnWidth])
    .separation((one, other) => (one.parent === other.parent ? 1 : 1.25))(
    hierarchy<ShownNode>(root, ({ children }) => children),
  )
  return laidOut.descendants().map(({ data, x, y, parent }) => ({ shown: data, x: y, y: x, parentId: parent?.data.id }))
}

export type Step = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight' | 'Home'

/**
 * Returns the node that an arrow key leads to: up and down in the column, left to its parent, right to its first child.
 */
export function stepFrom(nodes: readonly PlacedNode[], id: string, step: Step): string | undefined {
  const here = nodes.find(({ shown }) => shown.id === id)
  if (!here || step === 'Home') return nodes[0]?.shown.id
  if (step === 'ArrowLeft') return here.parentId
  if (step === 'ArrowRight') return here.shown.children[0]?.id
  const column = nodes.filter(({ shown }) => shown.hop === here.shown.hop).sort((one, other) => one.y - other.y)
  return column[column.indexOf(here) + (step === 'ArrowDown' ? 1 : -1)]?.shown.id
}
