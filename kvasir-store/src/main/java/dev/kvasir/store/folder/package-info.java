/**
 * A tier of plain files in a folder, {@link dev.kvasir.store.folder.FolderTier}, which any number
 * of processes may share. {@code FolderBudget} bounds its size. Uses only {@code store.tier}.
 */
package dev.kvasir.store.folder;
