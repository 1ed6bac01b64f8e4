/**
 * The only module that knows `node:sqlite`. Owns how a database is opened (WAL, every commit synced, foreign keys on),
 * the cache of prepared statements, and the conversion of errors. Knows no table.
 *
 * No other code of this process may open a database file with `node:fs`, not even to read it: closing any descriptor
 * of the file drops the POSIX locks that SQLite holds on it.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { assert } from '../../lib/assert.ts';
import { StoreError } from '../store.ts';
import { toStoreError } from './to-store-error.ts';

export type SqlValue = SQLInputValue;

/** How long a statement waits for another connection's lock. Only checkpoints and recovery ever make one wait. */
const usualBusyTimeoutMs = 5000;
/** SQL texts are constants of this program, so that more of them means that somebody builds them from data. */
const statementsMax = 300;
/** After a burst the write-ahead log shrinks back to this. */
const logKeptBytesMax = 64 * 1024 * 1024;

export interface OpenOptions {
  readonly readOnly?: boolean;
  /** 0: a lock held elsewhere is an error at once. */
  readonly busyTimeoutMs?: number;
}

export function openDatabase(path: string, options: OpenOptions = {}): Database {
  return new Database(path, options);
}

/**
 * A write-ahead log, so that readers and the writer don't wait for each other. `FULL`: a commit is on the disk when it
 * returns. `NORMAL`: a power cut may take the newest commits away; for what can be rebuilt.
 */
export function useWriteAheadLog(database: Database, synchronous: 'FULL' | 'NORMAL'): void {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous};
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA journal_size_limit = ${logKeptBytesMax};
    PRAGMA temp_store = MEMORY;
  `);
}

/** One connection. Not shared between threads. Every method throws `StoreError`s, or the bug as it is. */
export class Database {
  readonly path: string;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, { readOnly = false, busyTimeoutMs = usualBusyTimeoutMs }: OpenOptions) {
    this.path = path;
    this.#connection = this.#converting(
      () => new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs, enableForeignKeyConstraints: true }),
    );
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  get inTransaction(): boolean {
    return this.#connection.isOpen && this.#connection.isTransaction;
  }

  /** The first row. The caller states its shape; columns are named as the fields of that shape. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- an assertion, made where the SQL is
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#converting(() => this.#statement(sql).get(...values) as Row | undefined);
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#converting(() => this.#statement(sql).all(...values) as Row[]);
  }

  /** How many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return this.#converting(() => Number(this.#statement(sql).run(...values).changes));
  }

  /** Several statements at once, or one that is not worth keeping. */
  exec(sql: string): void {
    this.#converting(() => this.#connection.exec(sql));
  }

  /** All of it or nothing, under the write lock. */
  transaction<T>(work: () => T): T {
    return this.#within('BEGIN IMMEDIATE', work);
  }

  /** Everything read inside is of one moment. */
  moment<T>(work: () => T): T {
    return this.inTransaction ? work() : this.#within('BEGIN', work);
  }

  close(): void {
    if (!this.#connection.isOpen) return;
    this.#statements.clear();
    this.#converting(() => this.#connection.close());
  }

  #within<T>(begin: string, work: () => T): T {
    this.run(begin);
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.abandonTransaction();
      throw error;
    }
  }

  /** Rolls back, unless SQLite has done so by itself, as it does when the disk is full. */
  abandonTransaction(): void {
    if (this.inTransaction) this.run('ROLLBACK');
  }

  #statement(sql: string): StatementSync {
    if (!this.#connection.isOpen) throw new StoreError('unavailable', `${this.path} is closed; start Talaria again.`);
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      assert(this.#statements.size < statementsMax, 'too many different SQL texts: values belong into parameters');
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #converting<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }
}
