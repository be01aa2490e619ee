import { useLayoutEffect } from 'react'

/** What opened the outermost dialog: a dialog that follows another goes back there, too. */
let lastOpener: HTMLElement | undefined

/**
 * Gives the focus back to what opened a dialog, also where the dialog goes as a whole. Where the opener is gone
 * itself, such as a removed row, the title of the page has it.
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
      // After the library's own way back, which does not know dialogs that come and go as a whole.
      setTimeout(() => {
        const now = document.activeElement
        if (now !== null && now !== document.body && now !== atClose) return
        const back = openers.find((each) => each?.isConnected && each !== document.body)
        ;(back ?? document.querySelector<HTMLElement>('.page-title'))?.focus({ preventScroll: true })
      }, 20)
    }
  }, [opened])
}
