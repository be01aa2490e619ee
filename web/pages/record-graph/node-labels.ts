import { titleOfRecord } from '../../components/record-type.tsx'
import type { ShownNode, TreeNode } from './graph-model.ts'

/** What is read out of a node behind what stands in it: how it is linked, how far it is, what it leads to. */
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
