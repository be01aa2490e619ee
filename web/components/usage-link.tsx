import type { ReactNode } from 'react'
import { useMe } from '../api/me.ts'
import { nothing } from '../ui/formats.ts'
import { CellLink } from './cell-link.tsx'
import { type UsageGroup, usageAddress } from './usage-address.ts'

interface UsageLinkProps {
  group: UsageGroup
  /** Undefined if the row names none. */
  id: string | undefined
  title?: string
  /** For a row that opens by the keyboard and shows the same link there: Tab skips it. */
  inRow?: boolean
  /** The text of the link; defaults to the id, of people without its kind. */
  children?: ReactNode
}

/** A link to the page of a skill, person, model or archetype; text for users who may not read metrics. */
export function UsageLink({ group, id, title = id ?? '', inRow = false, children }: UsageLinkProps) {
  const { may } = useMe()
  if (id === undefined) return nothing
  const shown = children ?? (group === 'user' ? id.replace(/^user:/, '') : id)
  const href = may('summarizeTelemetry') ? usageAddress(group, id) : undefined
  if (href === undefined) return <span title={title}>{shown}</span>
  return (
    <CellLink href={href} title={title} inRow={inRow}>
      {shown}
    </CellLink>
  )
}
