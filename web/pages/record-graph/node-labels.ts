import { titleOfRecord } from '../../components/record-type.tsx'
import type { ShownNode, TreeNode } from './graph-model.ts'

/** Returns the text that screen readers add to a node: its relation, its distance, and its number of children. */
export function nodeLabels(shown: ShownNode, parent: TreeNode | undefined): string {
  if (shown.kind === 'more') return `linked with ${titleOfRecord(shown.parent.record)}: show them`
  const { relation, children, hop } = shown.node
  const said = [
    parent && relation ? `${relation} ${titleOfRecord(parent.record)}` : 'where the graph begins',
    `${hop} ${hop === 1 ? 'step' : 'steps'} away`,
    children.length > 0 && `leads to ${children.length} ${children.length === 1 ? 'record' : 'records'}`,
  ]
  return said.filter(Boolean).join(', ')
}
