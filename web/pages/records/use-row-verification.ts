import { useEffect, useRef, useState } from 'react'
import type { JsonObject } from '../../../provenance/index.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { useMe } from '../../api/me.ts'
import { verifierOf } from '../../verification/use-verification.ts'
import { logKeys } from '../../verification/verify-record.ts'
import { type RowVerdicts, verifyRows } from '../../verification/verify-rows.ts'

/** Maximum number of rows per verification. */
export const verifiedAtOnce = 1000

export interface RowVerification {
  verdicts: RowVerdicts
  /** The number of rows to verify; undefined before the first request. */
  asked: number | undefined
  running: boolean
  /** Problems with the keys of the log. */
  problems: readonly string[]
  /** The reason why the verification did not run. */
  error: unknown
  start(rows: readonly HubRecord[], fits: (record: JsonObject) => boolean): void
}

const nothing = { verdicts: new Map() as RowVerdicts, asked: undefined, running: false, problems: [], error: null }

/**
 * Verifies loaded rows in this browser, on request.
 *
 * @param of identifies the rows: a new value discards earlier verdicts
 */
export function useRowVerification(of: string): RowVerification {
  const { tenant } = useMe()
  const [state, setState] = useState<Omit<RowVerification, 'start'>>(nothing)
  const run = useRef<AbortController>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: it is for other rows that the old ones are forgotten
  useEffect(() => {
    setState(nothing)
    return () => run.current?.abort()
  }, [of])

  async function start(all: readonly HubRecord[], fits: (record: JsonObject) => boolean) {
    run.current?.abort()
    const controller = new AbortController()
    run.current = controller
    const { signal } = controller
    const rows = all.slice(0, verifiedAtOnce)
    setState({ ...nothing, asked: rows.length, running: true })
    const set = (change: Partial<RowVerification>) => {
      if (!signal.aborted) setState((before) => ({ ...before, ...change }))
    }
    try {
      const verifier = await verifierOf(tenant)
      const keys = await logKeys(verifier)
      set({ problems: keys.problems })
      const { crypto } = verifier
      const onProgress = (verdicts: RowVerdicts) => set({ verdicts })
      await verifyRows(rows as unknown as JsonObject[], { tenant, keys, crypto, fits, onProgress, signal })
      set({ running: false })
    } catch (error) {
      set({ running: false, error })
    }
  }

  return { ...state, start: (rows, fits) => void start(rows, fits) }
}
