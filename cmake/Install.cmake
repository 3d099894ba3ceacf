if(TARGET gpuplan_cli)
  install(TARGETS gpuplan_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES man/gpuplan.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" OPTIONAL)
# The program carries these facts inside; the files are for reading and as a base for one's own.
install(DIRECTORY data/ DESTINATION "${CMAKE_INSTALL_DATADIR}/gpuplan/data" FILES_MATCHING PATTERN "*.yaml" PATTERN "*.csv")
install(DIRECTORY schema/ DESTINATION "${CMAKE_INSTALL_DATADIR}/gpuplan/schema" FILES_MATCHING PATTERN "*.json")
