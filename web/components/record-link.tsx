import type { ReactNode } from 'react'
import { LinkText } from './link-text.tsx'

interface RecordLinkProps {
  id: string
  /** The text of the link; defaults to the id. */
  children?: ReactNode
}

/** A link to a record's page. */
export function RecordLink({ id, children }: RecordLinkProps) {
  return (
    <LinkText to="/records/$recordId" params={{ recordId: id }} inherit ff={children ? undefined : 'monospace'}>
      {children ?? id}
    </LinkText>
  )
}
