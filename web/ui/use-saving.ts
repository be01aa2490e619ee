import { useState } from 'react'

/** Returns whether a file is being made, and whether the last one failed. */
export function useSaving() {
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState(false)
  const run = (save: () => Promise<void>) => async () => {
    setBusy(true)
    setFailed(false)
    try {
      await save()
    } catch {
      setFailed(true)
    } finally {
      setBusy(false)
    }
  }
  return { busy, failed, run }
}
