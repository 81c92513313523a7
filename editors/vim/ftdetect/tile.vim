autocmd BufNewFile,BufRead *.tile setfiletype tile
