import '@xyflow/react/dist/style.css'
import { Box, useComputedColorScheme } from '@mantine/core'
import {
  Background,
  Controls,
  type Edge,
  MarkerType,
  type Node,
  ReactFlow,
  ReactFlowProvider,
  type ReactFlowState,
  useReactFlow,
  useStore,
} from '@xyflow/react'
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import styles from './graph-canvas.module.css'
import { BesideEdge } from './graph-edge.tsx'
import { nodeHeight, nodeWidth, type PlacedNode, placed, type Step, stepFrom } from './graph-layout.ts'
import type { Related, ShownNode, TreeNode } from './graph-model.ts'
import { ends, GraphFocus, type GraphNodeData, MoreNode, RecordNode } from './graph-node.tsx'

const nodeTypes = { record: RecordNode, more: MoreNode }
const edgeTypes = { beside: BesideEdge }
/** The smallest initial zoom at which titles are readable. */
const smallestAtFirst = 0.86
const steps: readonly string[] = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home'] satisfies Step[]

export interface GraphCanvasProps {
  root: ShownNode
  edges: Related['edges']
  openId: string | undefined
  onOpen(id: string): void
  /** Expands folded records. */
  onMore(more: Extract<ShownNode, { kind: 'more' }>): void
}

export default function GraphCanvas(props: GraphCanvasProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  )
}

function Canvas({ root, edges, openId, onOpen, onMore }: GraphCanvasProps) {
  const scheme = useComputedColorScheme('light')
  const flow = useReactFlow()
  const frame = useRef<HTMLDivElement>(null)
  const nodes = useMemo(() => placed(root), [root])
  const [wanted, setWanted] = useState(openId ?? root.id)
  // An expanded node disappears; without the selected node, the root is active.
  const activeId = nodes.some(({ shown }) => shown.id === wanted) ? wanted : root.id
  const [focusedBy, setFocusedBy] = useState<'keyboard'>()
  const isAway = useStore(useCallback((state: ReactFlowState) => isOutOfSight(state, activeId), [activeId]))
  const drawnNodes = useMemo(() => nodes.map(drawnNode), [nodes])
  const drawnEdges = useMemo(() => drawn(nodes, edges), [nodes, edges])

  const show = useCallback(
    (id: string) => {
      const node = nodes.find(({ shown }) => shown.id === id)
      const box = frame.current?.getBoundingClientRect()
      if (!node || !box) return
      const corner = flow.flowToScreenPosition({ x: node.x, y: node.y })
      const end = flow.flowToScreenPosition({ x: node.x + nodeWidth, y: node.y + nodeHeight })
      const isInside = corner.x > box.left && corner.y > box.top && end.x < box.right && end.y < box.bottom
      if (isInside) return
      void flow.setCenter(node.x + nodeWidth / 2, node.y + nodeHeight / 2, { zoom: flow.getZoom() })
    },
    [flow, nodes],
  )

  /** Shows the whole graph if it is readable at that size, otherwise the part around the root. */
  async function begin() {
    await flow.fitView({ maxZoom: 1, minZoom: smallestAtFirst, padding: 0.06 })
    const height = frame.current?.clientHeight ?? 0
    const zoom = flow.getZoom()
    if (zoom > smallestAtFirst || nodes[0] === undefined) return
    await flow.setViewport({ x: 24 - nodes[0].x * zoom, y: height / 2 - (nodes[0].y + nodeHeight / 2) * zoom, zoom })
  }

  function activate(shown: ShownNode) {
    setWanted(shown.id)
    if (shown.kind === 'record') return onOpen(shown.id)
    const hidden = shown.parent.children[shown.parent.children.length - shown.hidden]
    if (hidden) setWanted(hidden.id)
    setFocusedBy('keyboard')
    onMore(shown)
  }

  useEffect(() => {
    if (focusedBy === 'keyboard') show(activeId)
  }, [activeId, focusedBy, show])

  function onKey(event: KeyboardEvent) {
    if (!steps.includes(event.key) || !(event.target as Element).closest('[data-graph-node]')) return
    event.preventDefault()
    const next = stepFrom(nodes, activeId, event.key as Step)
    if (!next) return
    setFocusedBy('keyboard')
    setWanted(next)
  }

  return (
    <GraphFocus value={{ activeId, openId, takesFocus: focusedBy === 'keyboard', activate }}>
      <Box
        ref={frame}
        className={styles.frame}
        onKeyDown={onKey}
        onFocus={({ target }) => {
          // Scrolls to a node that is partly visible. A click does not scroll.
          if (target.matches('[data-graph-node]:focus-visible')) show(activeId)
        }}
        role="group"
        aria-label="Graph of linked records"
      >
        {/* Nodes out of sight are not rendered, so Tab would find none. */}
        {isAway && (
          <button
            type="button"
            className="visually-hidden"
            onFocus={() => {
              setFocusedBy('keyboard')
              show(activeId)
            }}
          >
            Go back to where you are in the graph
          </button>
        )}
        <ReactFlow
          nodes={drawnNodes}
          edges={drawnEdges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode={scheme}
          onInit={() => void begin()}
          minZoom={0.1}
          maxZoom={1.75}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          onlyRenderVisibleElements
        >
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      </Box>
    </GraphFocus>
  )
}

function isOutOfSight(
  { transform: [left, top, zoom], width, height, nodeLookup }: ReactFlowState,
  id: string,
): boolean {
  const node = nodeLookup.get(id)
  if (!node || width === 0) return false
  const [x, y] = [node.position.x * zoom + left, node.position.y * zoom + top]
  return x > width || y > height || x + nodeWidth * zoom < 0 || y + nodeHeight * zoom < 0
}

function drawnNode({ shown, x, y }: PlacedNode, _index: number, all: readonly PlacedNode[]): Node<GraphNodeData> {
  const parent: TreeNode | undefined =
    shown.kind === 'record' && shown.node.parentId ? parentOf(all, shown.node.parentId) : undefined
  return {
    id: shown.id,
    type: shown.kind,
    position: { x, y },
    width: nodeWidth,
    height: nodeHeight,
    data: { shown, parent },
  }
}

function parentOf(all: readonly PlacedNode[], id: string): TreeNode | undefined {
  const found = all.find(({ shown }) => shown.id === id)?.shown
  return found?.kind === 'record' ? found.node : undefined
}

/** Lines run from left to right; the arrow is at the referenced record. */
function drawn(nodes: readonly PlacedNode[], edges: Related['edges']): Edge[] {
  const byId = new Map(nodes.map((node) => [node.shown.id, node]))
  const arrow = { type: MarkerType.ArrowClosed, width: 18, height: 18 }
  const lines = new Map<string, Edge>()
  for (const { from, to } of edges) {
    const [one, other] = [byId.get(from), byId.get(to)]
    if (!one || !other) continue
    const isForward = one.x <= other.x
    const isBeside = one.x === other.x
    const [source, target] = isForward ? [one, other] : [other, one]
    const isOfTree = target.parentId === source.shown.id
    const id = `${source.shown.id} ${target.shown.id}`
    const line = lines.get(id) ?? {
      id,
      source: source.shown.id,
      target: target.shown.id,
      sourceHandle: ends.out,
      targetHandle: isBeside ? ends.beside : ends.into,
      ...(isBeside && { type: 'beside' }),
      focusable: false,
      className: isOfTree ? styles.line : styles.cross,
    }
    lines.set(id, { ...line, ...(isForward ? { markerEnd: arrow } : { markerStart: arrow }) })
  }
  for (const { shown, parentId } of nodes) {
    if (shown.kind === 'more' && parentId)
      lines.set(shown.id, {
        id: shown.id,
        source: parentId,
        target: shown.id,
        sourceHandle: ends.out,
        targetHandle: ends.into,
        className: styles.cross,
        focusable: false,
      })
  }
  return [...lines.values()]
}
