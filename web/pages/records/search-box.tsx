import { IconSearch } from '@tabler/icons-react'
import { searchLengthMax } from '../../../contract/limits.ts'
import { useMe } from '../../api/me.ts'
import { SearchField } from '../../components/search-field.tsx'
import { maySearch } from '../../components/use-found-records.ts'
import type { RecordsSearch } from './records-search.ts'

interface SearchBoxProps {
  search: RecordsSearch
  onChange(change: Partial<RecordsSearch>): void
}

/** Searches the text of records; roles that see telemetry only have nothing to search. */
export function SearchBox({ search, onChange }: SearchBoxProps) {
  const me = useMe()
  if (!maySearch(me)) return null
  return (
    <SearchField
      type="search"
      aria-label="Search the text of records"
      placeholder="Search titles, decisions, content and ids"
      leftSection={<IconSearch size={16} aria-hidden />}
      maxLength={searchLengthMax}
      value={search.q}
      onSearch={(q) => onChange({ q: q?.trim() || undefined, open: undefined })}
    />
  )
}
