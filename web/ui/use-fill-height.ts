import { type RefObject, useLayoutEffect } from 'react'

const leastPx = 384

/** The height that `useFillHeight` maintains, as a CSS value. */
export const fillHeight = `var(--fitting-height, max(${leastPx}px, calc(100dvh - 18rem)))`

/**
 * Makes a scrolling element end with the window, regardless of the content above it, so that the page itself does not
 * scroll. In dialogs, and if too little space is left, the element has its default height.
 */
export function useFillHeight(part: RefObject<HTMLElement | null>, wanted: boolean): void {
  useLayoutEffect(() => {
    const element = part.current
    const main = element?.closest('main')
    if (!wanted || !element || !main) return
    const measure = () => {
      const top = element.getBoundingClientRect().top + window.scrollY
      const other = Math.ceil(top + Number.parseFloat(getComputedStyle(main).paddingBottom))
      if (other + leastPx > window.innerHeight) element.style.removeProperty('--fitting-height')
      else element.style.setProperty('--fitting-height', `calc(100dvh - ${other}px)`)
    }
    measure()
    // Its ancestors change size with the content above it.
    const observer = new ResizeObserver(measure)
    for (let each = element.parentElement; each && each !== main; each = each.parentElement) observer.observe(each)
    window.addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', measure)
    }
  }, [part, wanted])
}
