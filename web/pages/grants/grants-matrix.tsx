import { Text, useMatches } from '@mantine/core'
import { IconCheck, IconPackage } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type FocusEvent, type KeyboardEvent, type MouseEvent, memo, useRef, useState } from 'react'
import type { Archetype, Skill } from '../../components/full-lists.ts'
import styles from './grants-matrix.module.css'
import type { GivenGrants, PendingGrants } from './pending-grants.ts'

interface GrantsMatrixProps {
  archetypes: readonly Archetype[]
  skills: readonly Skill[]
  given: GivenGrants
  pending: PendingGrants
  readOnly: boolean
  onToggle(archetypeId: string, skillId: string): void
  onActive(cell: { archetypeId: string; skillId: string }): void
}

const rowHeight = 44
const headHeight = 52
const columnWidth = 128
const pageRows = 10

/**
 * Shows skills in rows and archetypes in columns. Renders only visible cells; the headers of rows and columns stay
 * visible.
 */
export function GrantsMatrix({ archetypes, skills, given, pending, readOnly, onToggle, onActive }: GrantsMatrixProps) {
  const scrolled = useRef<HTMLDivElement>(null)
  const headWidth = useMatches({ base: 144, sm: 240 })
  const [at, setAt] = useState({ row: 0, column: 0 })
  const rows = useVirtualizer({
    count: skills.length,
    getScrollElement: () => scrolled.current,
    estimateSize: () => rowHeight,
    paddingStart: headHeight,
    scrollPaddingStart: headHeight,
    overscan: 4,
  })
  const columns = useVirtualizer({
    horizontal: true,
    count: archetypes.length,
    getScrollElement: () => scrolled.current,
    estimateSize: () => columnWidth,
    paddingStart: headWidth,
    scrollPaddingStart: headWidth,
    overscan: 2,
  })
  if (skills.length === 0 || archetypes.length === 0) {
    return <Text size="sm">Nothing fits these filters.</Text>
  }
  // Filters may have removed rows or columns since the cell was selected.
  const active = { row: Math.min(at.row, skills.length - 1), column: Math.min(at.column, archetypes.length - 1) }
  const shownColumns = columns.getVirtualItems()

  function cellOf(target: EventTarget): { row: number; column: number } | undefined {
    const cell = (target as Element).closest<HTMLElement>('[data-row]')
    return cell ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : undefined
  }

  function toggle(cell: { row: number; column: number }) {
    const skill = skills[cell.row]
    const archetype = archetypes[cell.column]
    if (skill && archetype) onToggle(archetype.archetype_id, skill.skill_id)
  }

  function onFocus({ target }: FocusEvent) {
    const cell = cellOf(target)
    const skill = cell && skills[cell.row]
    const archetype = cell && archetypes[cell.column]
    if (!cell || !skill || !archetype) return
    setAt(cell)
    onActive({ skillId: skill.skill_id, archetypeId: archetype.archetype_id })
  }

  function onKeyDown(event: KeyboardEvent) {
    const cell = cellOf(event.target)
    if (!cell) return
    const last = { row: skills.length - 1, column: archetypes.length - 1 }
    const moves: Record<string, { row: number; column: number }> = {
      ArrowDown: { ...cell, row: cell.row + 1 },
      ArrowUp: { ...cell, row: cell.row - 1 },
      ArrowRight: { ...cell, column: cell.column + 1 },
      ArrowLeft: { ...cell, column: cell.column - 1 },
      PageDown: { ...cell, row: cell.row + pageRows },
      PageUp: { ...cell, row: cell.row - pageRows },
      Home: event.ctrlKey ? { row: 0, column: 0 } : { ...cell, column: 0 },
      End: event.ctrlKey ? last : { ...cell, column: last.column },
    }
    const next = moves[event.key]
    if (!next) return
    event.preventDefault()
    const row = Math.max(0, Math.min(last.row, next.row))
    const column = Math.max(0, Math.min(last.column, next.column))
    const focusNext = () => {
      const box = scrolled.current?.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`)
      box?.focus({ preventScroll: true })
      return box
    }
    // Moves the focus at once if the cell is rendered, so that the next key does not act on the previous one.
    const isDrawn = focusNext()
    rows.scrollToIndex(row)
    columns.scrollToIndex(column)
    setAt({ row, column })
    if (!isDrawn) requestAnimationFrame(focusNext)
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table of this size is drawn in parts, in both directions
    <div
      ref={scrolled}
      role="grid"
      aria-label="Grants of skills to archetypes"
      aria-rowcount={skills.length + 1}
      aria-colcount={archetypes.length + 1}
      aria-readonly={readOnly}
      tabIndex={-1}
      className={styles.frame}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
      onClick={({ target }: MouseEvent) => {
        const cell = cellOf(target)
        if (cell) toggle(cell)
      }}
    >
      <div
        role="presentation"
        style={{ height: rows.getTotalSize(), width: columns.getTotalSize(), position: 'relative' }}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: its cells take the focus */}
        <div role="row" aria-rowindex={1} className={styles.heads} style={{ height: headHeight }}>
          {/* biome-ignore lint/a11y/useSemanticElements: see above */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: heads are read with their cells */}
          <div role="columnheader" aria-colindex={1} className={styles.corner} style={{ width: headWidth }}>
            Skill
          </div>
          {shownColumns.map(({ index, start }) => {
            const archetype = archetypes[index]
            return (
              // biome-ignore lint/a11y/useSemanticElements: see above
              // biome-ignore lint/a11y/useFocusableInteractive: heads are read with their cells
              <div
                key={archetype?.archetype_id}
                role="columnheader"
                aria-colindex={index + 2}
                className={styles.columnHead}
                title={archetype?.archetype_id}
                style={{ left: start, width: columnWidth }}
              >
                {archetype?.name ?? archetype?.archetype_id}
              </div>
            )
          })}
        </div>
        {rows.getVirtualItems().map(({ index, start }) => {
          const skill = skills[index]
          if (!skill) return null
          return (
            // biome-ignore lint/a11y/useSemanticElements: see above
            // biome-ignore lint/a11y/useFocusableInteractive: its cells take the focus
            <div
              key={skill.skill_id}
              role="row"
              aria-rowindex={index + 2}
              className={styles.row}
              style={{ transform: `translateY(${start}px)`, height: rowHeight }}
            >
              {/* biome-ignore lint/a11y/useSemanticElements: see above */}
              {/* biome-ignore lint/a11y/useFocusableInteractive: heads are read with their cells */}
              <div
                role="rowheader"
                aria-colindex={1}
                className={styles.rowHead}
                style={{ width: headWidth }}
                title={skill.skill_id}
              >
                <span className={styles.name}>{skill.name}</span>
                <span className={styles.id}>
                  {skill.state === 'published' ? skill.skill_id : `${skill.state} · ${skill.skill_id}`}
                </span>
              </div>
              {shownColumns.map((column) => {
                const archetype = archetypes[column.index]
                if (!archetype) return null
                const grant = given.get(archetype.archetype_id)?.get(skill.skill_id)
                return (
                  <Cell
                    key={archetype.archetype_id}
                    row={index}
                    column={column.index}
                    left={column.start}
                    name={`${skill.name} for ${archetype.name ?? archetype.archetype_id}`}
                    isGranted={grant !== undefined}
                    pack={grant?.cowork_id}
                    isPending={pending.get(archetype.archetype_id)?.has(skill.skill_id) ?? false}
                    isActive={active.row === index && active.column === column.index}
                    readOnly={readOnly}
                  />
                )
              })}
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface CellProps {
  row: number
  column: number
  left: number
  name: string
  isGranted: boolean
  pack: string | undefined
  isPending: boolean
  isActive: boolean
  readOnly: boolean
}

const Cell = memo(function Cell({
  row,
  column,
  left,
  name,
  isGranted,
  pack,
  isPending,
  isActive,
  readOnly,
}: CellProps) {
  const isOn = isGranted !== isPending
  const origin = isGranted ? (pack ? `, given by the pack ${pack}` : ', given by hand') : ''
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the matrix
    // biome-ignore lint/a11y/useFocusableInteractive: the box in it takes the focus
    <div role="gridcell" aria-colindex={column + 2} className={styles.cell} style={{ left, width: columnWidth }}>
      {/* biome-ignore lint/a11y/useSemanticElements: thousands of inputs would be heavier, and a click is the matrix's to take */}
      <button
        type="button"
        role="checkbox"
        aria-checked={isOn}
        aria-readonly={readOnly}
        aria-label={`${name}${origin}${isPending ? ', not saved yet' : ''}`}
        title={origin.slice(2) || undefined}
        tabIndex={isActive ? 0 : -1}
        data-row={row}
        data-column={column}
        data-on={isOn || undefined}
        data-pending={isPending || undefined}
        className={styles.box}
      >
        {isOn && (pack && !isPending ? <IconPackage size={17} aria-hidden /> : <IconCheck size={17} aria-hidden />)}
        {isPending && <span className={styles.mark} aria-hidden />}
      </button>
    </div>
  )
})
