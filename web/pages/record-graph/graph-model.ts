import type { ApiResponse } from '../../api/api-client.ts'

export type Related = Pick<ApiResponse<'getRelatedRecords'>, 'root' | 'records' | 'edges'>
export type RelatedRecord = Related['records'][number]
export type Direction = 'both' | 'out' | 'in'

/** The relation of a record to its parent in the tree; "names" means that the record contains the link. */
export type Relation = 'names' | 'is named by' | 'names and is named by'

export interface TreeNode {
  id: string
  record: RelatedRecord
  hop: number
  parentId: string | undefined
  /** The relation to the parent; undefined for the root. */
  relation: Relation | undefined
  children: TreeNode[]
}

/** A drawn node: a record, or the folded rest of a record's children. */
export type ShownNode =
  | { kind: 'record'; id: string; hop: number; node: TreeNode; children: ShownNode[] }
  | { kind: 'more'; id: string; hop: number; parent: TreeNode; hidden: number; children: [] }

/** Beyond this number, the children of a record are folded. */
const fanOutMax = 8
const fanOutShown = 6
/** Maximum number of records shown at first; further ones are folded until the user expands them. */
const shownAtFirst = 120
/** Number of records that one expansion adds: drawing them takes no noticeable time. */
export const openedAtOnce = 40

/** Builds the tree of records from the root: each once, by the shortest path, in the order of the response. */
export function buildTree({ root, records, edges }: Related, direction: Direction): TreeNode | undefined {
  const byId = new Map(records.map((record) => [record.record_id, record]))
  const order = new Map(records.map(({ record_id }, index) => [record_id, index]))
  const linked = new Set(edges.map(({ from, to }) => `${from} ${to}`))
  const neighbours = new Map<string, Set<string>>()
  const join = (one: string, other: string) => {
    const known = neighbours.get(one)
    if (known) known.add(other)
    else neighbours.set(one, new Set([other]))
  }
  for (const { from, to } of edges) {
    if (direction !== 'in') join(from, to)
    if (direction !== 'out') join(to, from)
  }
  const first = byId.get(root)
  if (!first) return undefined
  const start: TreeNode = { id: root, record: first, hop: 0, parentId: undefined, relation: undefined, children: [] }
  const reached = new Set([root])
  let frontier = [start]
  while (frontier.length > 0) {
    const next: TreeNode[] = []
    for (const node of frontier) {
      const found = [...(neighbours.get(node.id) ?? [])].filter((id) => byId.has(id) && !reached.has(id))
      for (const id of found.sort((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))) {
        reached.add(id)
        const isNamed = linked.has(`${node.id} ${id}`)
        const names = linked.has(`${id} ${node.id}`)
        const relation = isNamed && names ? 'names and is named by' : names ? 'names' : 'is named by'
        const child = {
          id,
          record: byId.get(id)!,
          hop: node.hop + 1,
          parentId: node.id,
          relation,
          children: [],
        } as TreeNode
        node.children.push(child)
        next.push(child)
      }
    }
    frontier = next
  }
  return start
}

/**
 * Returns the part of the tree that is drawn.
 *
 * @param opened the number of children that the user requested, by record id
 */
export function shownOf(tree: TreeNode, opened: ReadonlyMap<string, number>): ShownNode {
  let room = shownAtFirst - 1
  const root: ShownNode = { kind: 'record', id: tree.id, hop: 0, node: tree, children: [] }
  let frontier = [root]
  while (frontier.length > 0) {
    const next: typeof frontier = []
    for (const shown of frontier) {
      if (shown.kind !== 'record') continue
      const { children } = shown.node
      const byDefault = children.length > fanOutMax ? fanOutShown : children.length
      const count = Math.min(children.length, opened.get(shown.id) ?? Math.max(0, Math.min(byDefault, room)))
      room -= count
      for (const node of children.slice(0, count)) {
        const child: ShownNode = { kind: 'record', id: node.id, hop: node.hop, node, children: [] }
        ;(shown.children as ShownNode[]).push(child)
        next.push(child)
      }
      if (count < children.length) {
        const more = { id: `more:${shown.id}`, hop: shown.hop + 1, hidden: children.length - count }
        ;(shown.children as ShownNode[]).push({ kind: 'more', ...more, parent: shown.node, children: [] })
      }
    }
    frontier = next
  }
  return root
}

/** Returns the number of shown children after the next expansion. */
export function openedFurther(more: Extract<ShownNode, { kind: 'more' }>): number {
  return more.parent.children.length - more.hidden + openedAtOnce
}

/** Returns all shown nodes, parents before children. */
export function flat(shown: ShownNode): ShownNode[] {
  return [shown, ...shown.children.flatMap(flat)]
}
