import { useLayoutEffect } from 'react'

/** The opener of the outermost dialog. A dialog that follows another also returns the focus there. */
let lastOpener: HTMLElement | undefined

/**
 * Returns the focus to the opener of a dialog, also if the dialog is unmounted as a whole. If the opener no longer
 * exists, such as a removed row, the title of the page gets the focus.
 */
export function useReturnFocus(opened: boolean): void {
  useLayoutEffect(() => {
    if (!opened) return
    const opener = document.activeElement instanceof HTMLElement ? document.activeElement : undefined
    const inDialog = opener?.closest('[role="dialog"]')
    const openers = [opener, inDialog ? lastOpener : undefined]
    if (!inDialog) lastOpener = opener
    return () => {
      const atClose = document.activeElement
      // Runs after the library's own focus return, which does not know dialogs that are unmounted as a whole.
      setTimeout(() => {
        const now = document.activeElement
        if (now !== null && now !== document.body && now !== atClose) return
        const back = openers.find((each) => each?.isConnected && each !== document.body)
        ;(back ?? document.querySelector<HTMLElement>('.page-title'))?.focus({ preventScroll: true })
      }, 20)
    }
  }, [opened])
}
