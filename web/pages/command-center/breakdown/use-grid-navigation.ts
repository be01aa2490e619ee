import { type KeyboardEvent, useState } from 'react'

const steps: Record<string, readonly [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/**
 * Makes one cell of a table reachable by Tab, the others from there by arrow keys. Skips cells without a value.
 *
 * @param filled true for cells with a value, by rows and columns
 */
export function useGridNavigation(filled: readonly (readonly boolean[])[]) {
  const [last, setLast] = useState<readonly [number, number]>([0, 0])
  const firstRow = filled.findIndex((row) => row.includes(true))
  const stop = filled[last[0]]?.[last[1]] ? last : [firstRow, filled[firstRow]?.indexOf(true) ?? -1]

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const step = steps[event.key]
    const at = (event.target as HTMLElement).dataset.cell?.split(' ').map(Number)
    if (!step || !at || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    let [row = 0, column = 0] = at
    do {
      row += step[0]
      column += step[1]
    } while (filled[row]?.[column] === false)
    event.currentTarget.querySelector<HTMLElement>(`[data-cell="${row} ${column}"]`)?.focus()
  }

  return {
    onKeyDown,
    cellProps: (row: number, column: number) => ({
      'data-cell': `${row} ${column}`,
      tabIndex: row === stop[0] && column === stop[1] ? 0 : -1,
      onFocus: () => setLast([row, column]),
    }),
  }
}
