import { recordTypeLooks, titleOfRecord } from '../../components/record-type.tsx'
import type { ShownNode, TreeNode } from './graph-model.ts'

/** A node as it is read out. */
export function wordsOf(shown: ShownNode, parent: TreeNode | undefined): string {
  if (shown.kind === 'more')
    return `${shown.hidden} more records linked with ${titleOfRecord(shown.parent.record)}: show them`
  const { record, relation, children, hop } = shown.node
  const said = [
    `${recordTypeLooks[record.record_type].label}: ${titleOfRecord(record)}`,
    parent && relation ? `${relation} ${titleOfRecord(parent.record)}` : 'where the graph begins',
    `${hop} ${hop === 1 ? 'step' : 'steps'} away`,
    children.length > 0 && `leads to ${children.length} ${children.length === 1 ? 'record' : 'records'}`,
  ]
  return said.filter(Boolean).join(', ')
}
