/** Keys of the page of records, in the order of its list. The table handles j, k and o while a row has the focus. */
export const recordsShortcuts = [
  { key: '/', does: 'Go to the search box' },
  { key: 'j', does: 'Go to the next row' },
  { key: 'k', does: 'Go to the previous row' },
  { key: 'o', does: 'Open the row' },
  { key: '?', does: 'Show the keyboard shortcuts' },
] as const

/** The name of the setting in the browser's storage; shortcuts are on unless it is `false`. */
export const shortcutsKey = 'hub-shortcuts'

export function areShortcutsOn(): boolean {
  return localStorage.getItem(shortcutsKey) !== 'false'
}
