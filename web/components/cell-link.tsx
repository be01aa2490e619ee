import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'

interface CellLinkProps {
  /** An address within the UI. */
  href: string
  title?: string | undefined
  /** For a row that opens by the keyboard and shows the same link there: Tab skips it. */
  inRow?: boolean
  children: ReactNode
}

/**
 * A link in a cell of a long table. It costs much less than the router's links, which follow every change of the
 * address and match their route again in each render.
 */
export function CellLink({ href, title, inRow = false, children }: CellLinkProps) {
  const router = useRouter()
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void router.navigate({ href })
  }
  return (
    <a href={href} title={title} onClick={onClick} tabIndex={inRow ? -1 : undefined} className="cell-link">
      {children}
    </a>
  )
}

/** Returns an address of the UI with these parameters; unset ones are left out. */
export function addressOf(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${path}?${new URLSearchParams(set)}`
}
