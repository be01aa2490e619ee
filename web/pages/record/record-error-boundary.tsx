import { CatchBoundary } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Notice } from '../../ui/notice.tsx'

/**
 * Contains errors of one part of a record's page. If a forged record breaks that part, the others stay, including the
 * verification by this browser.
 *
 * @param of identifies the record's state; another value resets the error
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
