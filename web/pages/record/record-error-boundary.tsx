import { CatchBoundary } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Notice } from '../../ui/notice.tsx'

/**
 * A part of what is shown of a record. Where a record that somebody made up breaks it, the others stay, and with them
 * what this browser found of the record.
 *
 * @param of what it is a part of: for another one it is tried again
 */
export function RecordErrorBoundary({ of, children }: { of: number; children: ReactNode }) {
  return (
    <CatchBoundary getResetKey={() => of} errorComponent={Unreadable}>
      {children}
    </CatchBoundary>
  )
}

function Unreadable() {
  return (
    <Notice kind="warning" title="This part of the record cannot be shown">
      It has not the form that records of its type have. The canonical text shows what was answered.
    </Notice>
  )
}
