import { Box, Text, UnstyledButton } from '@mantine/core'
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { createContext, memo, useContext, useEffect, useRef } from 'react'
import { looksOf, titleOfRecord } from '../../components/record-type.tsx'
import styles from './graph-canvas.module.css'
import type { ShownNode, TreeNode } from './graph-model.ts'
import { nodeLabels } from './node-labels.ts'

export type GraphNodeData = { shown: ShownNode; parent: TreeNode | undefined }

interface Focus {
  /** The one node that Tab reaches. */
  activeId: string
  openId: string | undefined
  /** True while the user moves by keyboard: the active node takes the focus, even if it was just rendered. */
  takesFocus: boolean
  activate(shown: ShownNode): void
}

export const GraphFocus = createContext<Focus>({ activeId: '', openId: undefined, takesFocus: false, activate() {} })

function useNode(id: string) {
  const { activeId, openId, takesFocus, activate } = useContext(GraphFocus)
  const button = useRef<HTMLButtonElement>(null)
  const isActive = activeId === id
  useEffect(() => {
    if (isActive && takesFocus && isFree(button.current)) button.current?.focus({ preventScroll: true })
  }, [isActive, takesFocus])
  return { button, tabIndex: isActive ? 0 : -1, isOpen: openId === id, activate }
}

/** The ends of lines at a node: those from other columns on the left, those within its column on the right. */
export const ends = { into: 'into', out: 'out', beside: 'beside' } as const

/** Returns true if the focus is in the graph or nowhere: moving the graph must not take it from another element. */
function isFree(node: HTMLElement | null): boolean {
  const { activeElement, body } = document
  const graph = node?.closest('[role="group"]')
  return activeElement === body || (graph?.contains(activeElement) ?? false)
}

const handles = (
  <>
    <Handle id={ends.into} type="target" position={Position.Left} isConnectable={false} />
    <Handle id={ends.out} type="source" position={Position.Right} isConnectable={false} />
    <Handle id={ends.beside} type="target" position={Position.Right} isConnectable={false} />
  </>
)

export const RecordNode = memo(function RecordNode({ id, data: { shown, parent } }: NodeProps<Node<GraphNodeData>>) {
  const { button, tabIndex, isOpen, activate } = useNode(id)
  if (shown.kind !== 'record') return null
  const { record, hop } = shown.node
  const { label, color, Icon } = looksOf(record.record_type)
  return (
    <>
      <UnstyledButton
        ref={button}
        tabIndex={tabIndex}
        data-graph-node={id}
        className={`${styles.node} ${hop === 0 ? styles.root : ''} nopan`}
        style={{ '--node-color': `var(--mantine-color-${color}-6)` }}
        aria-pressed={isOpen}
        onClick={() => activate(shown)}
      >
        <Icon size={20} aria-hidden color={`var(--mantine-color-${color}-text)`} style={{ flex: 'none' }} />
        <Box miw={0}>
          <Text size="xs" c="dimmed" lh={1.2}>
            {label}
          </Text>
          <Text size="sm" fw={hop === 0 ? 700 : 500} truncate lh={1.3} title={titleOfRecord(record)}>
            {titleOfRecord(record)}
          </Text>
          <span className="visually-hidden">, {nodeLabels(shown, parent)}</span>
        </Box>
      </UnstyledButton>
      {handles}
    </>
  )
})

export const MoreNode = memo(function MoreNode({ id, data: { shown } }: NodeProps<Node<GraphNodeData>>) {
  const { button, tabIndex, activate } = useNode(id)
  if (shown.kind !== 'more') return null
  return (
    <>
      <UnstyledButton
        ref={button}
        tabIndex={tabIndex}
        data-graph-node={id}
        className={`${styles.node} ${styles.more} nopan`}
        onClick={() => activate(shown)}
      >
        +{shown.hidden} more
        <span className="visually-hidden"> {nodeLabels(shown, undefined)}</span>
      </UnstyledButton>
      {handles}
    </>
  )
})
